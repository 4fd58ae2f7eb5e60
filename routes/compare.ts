// POST /compare: takes two to eight images as a form or JSON, responds with their ranking.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { IMAGES_AT_ONCE, type CompareImages } from '../src/comparisons/compare.ts';
import { createRequestContext } from '../src/http/request-context.ts';
import { raceAbort } from '../src/lib/abort.ts';
import { compareReader, type CompareUpload } from '../src/uploads/compare-form.ts';
import { getUpload, uploadPlugin, type UploadSettings } from '../src/uploads/plugin.ts';
import { compareSchema } from './openapi/compare.ts';

interface CompareRouteOptions {
  uploads: UploadSettings;
  compare: CompareImages;
}

export const compareRoutes: FastifyPluginAsyncTypebox<CompareRouteOptions> = async (app, { uploads, compare }) => {
  await app.register(uploadPlugin, { ...uploads, reader: compareReader, slots: IMAGES_AT_ONCE });

  app.post('/compare', { schema: compareSchema }, (request, reply) => {
    const context = createRequestContext(request, reply);
    return raceAbort(compare(getUpload<CompareUpload>(request), context), context.signal);
  });
};
