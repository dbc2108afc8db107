import { type Act, customId } from './custom-id';
import { type Category, labelOf } from './facts';
import { cut, LIMITS, type Row, row } from './reply';

/** Menus of categories beside one row of buttons. Four hold the 100 categories that a bot may declare. */
export function categoryMenus(
  act: Act,
  {
    categories,
    placeholder,
    label,
    isMany = false,
  }: {
    readonly categories: readonly Category[];
    readonly placeholder: string;
    readonly label: (category: Category) => string;
    /** Whether several can be chosen at once. */
    readonly isMany?: boolean;
  },
): Row[] {
  const menus: Row[] = [];
  for (let at = 0; at < categories.length && menus.length < LIMITS.rows - 1; at += LIMITS.options) {
    const options = categories.slice(at, at + LIMITS.options).map((category) => ({
      label: cut(label(category), LIMITS.label),
      value: category.key,
    }));
    menus.push(
      row({
        ...{ type: 3, custom_id: customId(act, menus.length), placeholder: cut(placeholder, LIMITS.label) },
        ...{ min_values: 1, max_values: isMany ? options.length : 1, options },
      }),
    );
  }
  return menus;
}

/** The name of a category in the language of the user; its key where it is not declared any more. */
export function nameOf(categories: readonly Category[], key: string, locale: string): string {
  const found = categories.find((category) => category.key === key);
  return cut(found === undefined ? key : labelOf(found, locale), LIMITS.label);
}
