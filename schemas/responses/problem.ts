// Problem details (RFC 9457), the body of every error response.
import Type, { type Static } from 'typebox';

export const Problem = Type.Object(
  {
    type: Type.String({ description: 'URI reference to the documentation of this code.' }),
    title: Type.String({ description: 'The kind of problem.' }),
    status: Type.Integer({ description: 'HTTP status.' }),
    detail: Type.String({ description: 'What happened and what to do.' }),
    code: Type.String({ description: 'Stable, machine-readable code (IQA_…).' }),
    request_id: Type.String({ description: 'Identifies the request in the logs.' }),
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          path: Type.String({ description: 'JSON Pointer to the field.' }),
          expected: Type.String({ description: 'What was expected.' }),
          received: Type.String({ description: 'What was received.' }),
        }),
        { description: 'All invalid fields, if validation failed.' },
      ),
    ),
  },
  { description: 'RFC 9457 problem details.' },
);
export type Problem = Static<typeof Problem>;
