// Schemas reduced for providers.
import t from 'tap';
import Type from 'typebox';
import { toProviderSchema } from '../../../../src/vlm/providers/provider-schema.ts';

t.test('all keys required, no extra keys, no limits', async (t) => {
  const schema = Type.Object({
    level: Type.Enum(['a', 'b']),
    list: Type.Optional(Type.Array(Type.Object({ n: Type.Number({ minimum: 1 }) }), { minItems: 1 })),
    none: Type.Union([Type.String({ pattern: 'x' }), Type.Null()]),
  });
  t.strictSame(toProviderSchema(schema), {
    type: 'object',
    required: ['level', 'list', 'none'],
    additionalProperties: false,
    properties: {
      level: { type: 'string', enum: ['a', 'b'] },
      list: {
        type: 'array',
        items: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'], additionalProperties: false },
      },
      none: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    },
  });
  t.strictSame(toProviderSchema(Type.Literal('only')), { type: 'string', enum: ['only'] }, 'const becomes an enum');
});
