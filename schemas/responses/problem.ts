// Every error, on every route: RFC 9457 problem details.
import Type, { type Static } from 'typebox';

export const Problem = Type.Object(
  {
    type: Type.String({ description: 'URI reference of the documentation of this code.' }),
    title: Type.String({ description: 'The kind of problem.' }),
    status: Type.Integer({ description: 'HTTP status.' }),
    detail: Type.String({ description: 'What happened and what to do, in a sentence.' }),
    code: Type.String({ description: 'Stable code for programs, IQA_…' }),
    request_id: Type.String({ description: 'For the logs.' }),
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          path: Type.String({ description: 'JSON Pointer to the field.' }),
          expected: Type.String({ description: 'What would have been right.' }),
          received: Type.String({ description: 'What came.' }),
        }),
        { description: 'Every failing field, when the input did not fit.' },
      ),
    ),
  },
  { description: 'RFC 9457 problem details.' },
);
export type Problem = Static<typeof Problem>;
