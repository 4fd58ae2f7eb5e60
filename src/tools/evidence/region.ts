import { GLOBAL } from '../../../schemas/vocabulary.ts';

/** A part of the image under its name in the evidence; a null box is the whole image. */
export interface ScopedRegion {
  name: string;
  box: readonly number[] | null;
}

export const WHOLE_IMAGE: ScopedRegion = { name: GLOBAL, box: null };
