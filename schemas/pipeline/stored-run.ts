// What a checkpointed run keeps beside its stages: the request and handles of its pictures, so that another process can go on with it.
import Type, { type Static } from 'typebox';
import { AssessRequest } from '../requests/assess.ts';
import { ImageInfo } from '../responses/assessment.ts';
import { defineModel } from '../validation/model.ts';
import { OrNull } from '../vocabulary.ts';

const StoredPicture = Type.Object(
  {
    info: ImageInfo,
    bytes: Type.Integer({ minimum: 0, description: 'Size of the prepared file.' }),
    sha256: Type.String({ description: 'Of the prepared file.' }),
    jpeg_quality: OrNull(Type.Number(), 'Of the original, when it was re-encoded.'),
  },
  { additionalProperties: false, description: 'A prepared picture.' },
);
export type StoredPicture = Static<typeof StoredPicture>;

export const StoredRun = defineModel(
  'StoredRun',
  Type.Object(
    {
      request: Type.Omit(AssessRequest, ['image', 'reference'], { additionalProperties: false }),
      image: StoredPicture,
      reference: OrNull(StoredPicture, 'The reference, or null.'),
    },
    { additionalProperties: false, description: 'A run as it was asked for.' },
  ),
);
export type StoredRun = Static<typeof StoredRun>;
