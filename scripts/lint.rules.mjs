// Rules of .oxlintrc.json that forbid syntax of Lethe.

/** A rule of what is forbidden: the selector of a node, and what to do in its place. */
const forbids = (instead) => ({
  create: (context) =>
    Object.fromEntries(
      Object.entries(instead).map(([selector, message]) => [
        selector,
        (node) => context.report({ node, message }),
      ]),
    ),
});

const inUnit =
  'The database is reached only through UnitOfWork: take the `tx` of `write` or `read` (libs/README.md).';

const unitOfWork = forbids({
  "CallExpression[callee.property.name='transaction']": inUnit,
  "CallExpression[callee.name='InjectRepository']": inUnit,
  "CallExpression[callee.name='InjectDataSource']": inUnit,
  "CallExpression[callee.property.name='save']": `save() reads and then writes. ${inUnit}`,
  "CallExpression[callee.object.property.name='manager'][callee.property.name=/^(remove|softRemove|recover)$/]":
    'It opens a transaction of its own, which fails inside a unit: use delete() or update().',
});

/** A passive effect runs some time after its page is shown: it undoes what was typed or clicked meanwhile. */
const passiveEffects = forbids(
  Object.fromEntries(
    [
      'CallExpression[callee.name=/^set(?!Timeout|Interval)/]',
      'BlockStatement > ExpressionStatement > CallExpression[callee.name=/^set(?!Timeout|Interval)/]',
      "BlockStatement > ExpressionStatement > AssignmentExpression[left.property.name='current']",
    ].map((step) => [
      `CallExpression[callee.name='useEffect'] > ArrowFunctionExpression > ${step}`,
      'It undoes what was typed or clicked since the page is shown: take useLayoutEffect.',
    ]),
  ),
);

export default {
  meta: { name: 'lethe' },
  rules: { 'unit-of-work': unitOfWork, 'passive-effects': passiveEffects },
};
