/** A filter: one entry of a list, or all. One that is chosen and not in the list, as from an old bookmark, is shown as it is. */
export function Choice<Value extends string>({
  name,
  isNameHidden = false,
  all,
  of,
  chosen,
  onChoose,
}: {
  readonly name: string;
  /** Where `all` says what the filter is about. */
  readonly isNameHidden?: boolean;
  readonly all: string;
  readonly of: readonly (readonly [value: Value, name: string])[];
  readonly chosen: string | undefined;
  readonly onChoose: (value: Value | undefined) => void;
}) {
  const isKnown = chosen === undefined || of.some(([value]) => value === chosen);
  return (
    <label>
      {isNameHidden ? <span class="hidden">{name}</span> : name}
      <select
        value={chosen ?? ''}
        onChange={({ currentTarget: { value } }) => onChoose(of.find(([each]) => each === value)?.[0])}
      >
        <option value="">{all}</option>
        {!isKnown && <option value={chosen}>{chosen}</option>}
        {of.map(([value, text]) => (
          <option key={value} value={value} title={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
