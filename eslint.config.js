// Lint rules: correctness, and which folder may import which.
import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/** Forbids imports by path. Only the last entry that matches a file counts: entries below src/ repeat OUTSIDE_SRC. */
const forbidImports = (files, ...bans) => ({
  files,
  rules: { 'no-restricted-imports': ['error', { patterns: bans.map(([regex, message]) => ({ regex, message })) }] },
});
const OUTSIDE_SRC = [
  '/(routes|benchmarks|scripts|test)/',
  'src/ imports only schemas/; only src/app.ts imports routes.',
];

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
      // Fastify plugins must be async, even without an await.
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
  forbidImports(
    ['schemas/**/*.ts'],
    ['/(src|routes|benchmarks|scripts|test)/', 'schemas/ is the contract and imports nothing else of the project.'],
  ),
  // The container image has src/, routes/ and schemas/ only.
  forbidImports(['routes/**/*.ts'], ['/(benchmarks|scripts|test)/', 'routes/ imports only src/ and schemas/.']),
  forbidImports(['src/**/*.ts'], OUTSIDE_SRC),
  forbidImports(
    ['src/pipeline/**/*.ts'],
    OUTSIDE_SRC,
    ['/(vlm|embedded)/', 'The pipeline knows reasoners only by src/reasoners/reasoner.ts.'],
    ['/(assessments|uploads|http)/', 'The pipeline gets a run context and knows nothing of requests.'],
  ),
  forbidImports(['src/reasoners/**/*.ts'], OUTSIDE_SRC, [
    '(?<!schemas)/pipeline/(?!rules/)',
    'Reasoners may use the rules of the pipeline, not its nodes.',
  ]),
  forbidImports(['src/vlm/**/*.ts', 'src/tools/**/*.ts'], OUTSIDE_SRC, [
    '/(reasoners|assessments)/|(?<!schemas)/pipeline/',
    'Model clients and tools know nothing of the pipeline.',
  ]),
  forbidImports(['src/images/**/*.ts'], OUTSIDE_SRC, [
    'fastify|/http/',
    'src/images reads files; HTTP belongs to src/uploads and src/http.',
  ]),
  { files: ['src/app.ts'], rules: { 'no-restricted-imports': 'off' } },
);
