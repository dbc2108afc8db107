/** @type {import('jest').Config} */
module.exports = {
  rootDir: '.',
  testEnvironment: 'node',
  testMatch: [
    '<rootDir>/libs/**/*.spec.ts',
    '<rootDir>/test/**/*.spec.ts',
    '<rootDir>/test/**/*.e2e-spec.ts',
  ],
  modulePathIgnorePatterns: ['<rootDir>/dist'],
  moduleNameMapper: { '^@app/([^/]+)$': '<rootDir>/libs/$1/src' },
  transform: {
    '^.+\\.[cm]?[jt]s$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
          keepClassNames: true,
        },
        module: { type: 'commonjs' },
      },
    ],
  },
  // NestJS 12 ships ES modules, which Jest on Node 20 cannot require untransformed.
  transformIgnorePatterns: ['/node_modules/(?!@nestjs/)'],
  testTimeout: 30_000,
};
