import regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';

const transactionOnly =
  'The database is reached only through UnitOfWork: take the `tx` of `write` or `read` (libs/README.md).';

export default tseslint.config(
  {
    ignores: ['**/dist/**', 'node_modules/**', 'coverage/**', 'data/**', '*.config.js', '*.config.mjs'],
  },
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/no-extraneous-class': 'off',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/consistent-type-imports': 'off',
      'no-console': 'error',
      'no-restricted-syntax': [
        'error',
        { selector: "CallExpression[callee.property.name='transaction']", message: transactionOnly },
        { selector: "CallExpression[callee.name='InjectRepository']", message: transactionOnly },
        { selector: "CallExpression[callee.name='InjectDataSource']", message: transactionOnly },
        {
          selector: "CallExpression[callee.property.name='save']",
          message: `save() reads and then writes. ${transactionOnly}`,
        },
        {
          selector:
            "CallExpression[callee.object.property.name='manager'][callee.property.name=/^(remove|softRemove|recover)$/]",
          message: 'It opens a transaction of its own, which fails inside a unit: use delete() or update().',
        },
      ],
    },
  },
  {
    // A text of a stranger meets no expression that takes more than linear time: one header stopped the service.
    ignores: ['test/**', '**/*.spec.ts', 'bench/**', 'soak/**'],
    plugins: { regexp },
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential', ignorePartial: false }],
    },
  },
  {
    files: ['libs/database/src/**', 'libs/operations/src/**'],
    rules: { 'no-restricted-syntax': 'off' },
  },
  {
    // One of the two versions may be missing. A bundler finds the name in a plain `require`.
    files: ['libs/database/src/sqlite.driver.ts'],
    rules: { '@typescript-eslint/no-require-imports': ['error', { allow: ['^better-sqlite3(-napi)?$'] }] },
  },
  {
    // The service as it is usually written, which the benchmark measures Lethe against.
    files: ['bench/usual/**'],
    rules: { 'no-restricted-syntax': 'off' },
  },
  {
    // A passive effect runs some time after its page is shown: it undoes what was typed or clicked meanwhile.
    files: ['apps/console/src/**'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...[
          'CallExpression[callee.name=/^set(?!Timeout|Interval)/]',
          'BlockStatement > ExpressionStatement > CallExpression[callee.name=/^set(?!Timeout|Interval)/]',
          "BlockStatement > ExpressionStatement > AssignmentExpression[left.property.name='current']",
        ].map((step) => ({
          selector: `CallExpression[callee.name='useEffect'] > ArrowFunctionExpression > ${step}`,
          message: 'It undoes what was typed or clicked since the page is shown: take useLayoutEffect.',
        })),
      ],
    },
  },
  {
    files: ['libs/**', 'apps/**', 'packages/**'],
    ignores: ['**/*.spec.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          paths: ['fs', 'node:fs'].map((name) => ({
            name,
            importNames: ['existsSync'],
            message:
              'It takes every fault for absence: take isThere of @app/kernel, or textAt of packages/cli.',
          })),
        },
      ],
    },
  },
  {
    files: ['test/**', '**/*.spec.ts'],
    rules: {
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/unbound-method': 'off',
      'no-restricted-imports': [
        'error',
        {
          name: 'fast-check',
          message: 'Take test/support/fast-check, whose seed a run of the gate does not draw.',
        },
      ],
    },
  },
  { files: ['test/support/fast-check.ts'], rules: { 'no-restricted-imports': 'off' } },
  {
    files: [
      ...['scripts/**/*.mjs', 'apps/console/*.mjs', 'bench/**/*.mjs', 'soak/**/*.mjs', 'docs/**/*.mjs'],
      'examples/**/*.js',
    ],
    extends: [tseslint.configs.disableTypeChecked],
    rules: { 'no-console': 'off', 'no-restricted-syntax': 'off' },
  },
);
