// Lint rules: correctness, and the one-way imports routes → src → schemas.
import js from '@eslint/js';
import tseslint from 'typescript-eslint';

const oneWay = (files, forbidden, why) => ({
  files,
  rules: { 'no-restricted-imports': ['error', { patterns: forbidden.map((regex) => ({ regex, message: why })) }] },
});

export default tseslint.config(
  { ignores: ['dist', 'node_modules/', '.tap/', '.setup/', 'coverage/', 'sidecar/', 'benchmarks/results/'] },
  js.configs.recommended,
  ...tseslint.configs.strictTypeChecked.map((config) => ({ ...config, files: ['**/*.ts'] })),
  {
    files: ['**/*.ts'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', ignoreRestSiblings: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      // A schema and its type share one name.
      '@typescript-eslint/no-redeclare': 'off',
      // Fastify plugins are async by contract, awaiting or not.
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
      ],
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      '@typescript-eslint/no-invalid-void-type': [
        'error',
        { allowAsThisParameter: true, allowInGenericTypeArguments: true },
      ],
      eqeqeq: 'error',
    },
  },
  {
    files: ['scripts/**/*.mjs', 'eslint.config.js'],
    languageOptions: { globals: { process: 'readonly', console: 'readonly' } },
  },
  {
    files: ['test/**/*.ts', 'benchmarks/**/*.ts'],
    rules: { '@typescript-eslint/no-floating-promises': 'off', '@typescript-eslint/no-non-null-assertion': 'off' },
  },
  oneWay(['schemas/**/*.ts'], ['/(src|routes)/'], 'schemas/ is the contract: it imports neither src nor routes.'),
  oneWay(['src/**/*.ts'], ['/routes/'], 'src/ never imports routes; src/app.ts alone mounts them.'),
  { files: ['src/app.ts'], rules: { 'no-restricted-imports': 'off' } },
);
