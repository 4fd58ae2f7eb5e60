// What a checkpoint stores besides the stages: the request and the handles of its images, so that another process can resume the run.
import Type, { type Static } from 'typebox';
import { AssessRequest } from '../requests/assess.ts';
import { ImageInfo } from '../responses/assessment.ts';
import { defineModel } from '../validation/model.ts';
import { OrNull } from '../vocabulary.ts';

const StoredImage = Type.Object(
  {
    info: ImageInfo,
    bytes: Type.Integer({ minimum: 0, description: 'Size of the prepared file.' }),
    sha256: Type.String({ description: 'SHA-256 of the prepared file.' }),
    jpeg_quality: OrNull(Type.Number(), 'JPEG quality of the original, if it was re-encoded.'),
  },
  { additionalProperties: false, description: 'A prepared image.' },
);
export type StoredImage = Static<typeof StoredImage>;

export const StoredRun = defineModel(
  'StoredRun',
  Type.Object(
    {
      request: Type.Omit(AssessRequest, ['image', 'reference'], { additionalProperties: false }),
      image: StoredImage,
      reference: OrNull(StoredImage, 'The reference, or null.'),
    },
    { additionalProperties: false, description: 'A run as requested.' },
  ),
);
export type StoredRun = Static<typeof StoredRun>;
