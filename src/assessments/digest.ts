// The digest of everything a response depends on: equal digests mean equal answers. It yields the ETag and identifies duplicate requests.
import { DEFAULT_QUERY } from '../../schemas/requests/assess.ts';
import { DEFAULT_MAX_REPLAN_ITERATIONS } from '../../schemas/pipeline/state.ts';
import type { SidecarTools } from '../../schemas/sidecar.ts';
import { hash } from '../../schemas/validation/hash.ts';
import type { PipelineConfig } from '../config/config.ts';
import { weakMemoize } from '../lib/weak-memoize.ts';
import type { ReasonerSource } from '../reasoners/reasoner.ts';
import type { ToolRegistry } from '../tools/registry.ts';
import type { SidecarClient } from '../tools/sidecar/client.ts';
import type { AssessUpload } from '../uploads/assess-form.ts';
import { PIPELINE_VERSION } from './response.ts';

export type VersionFingerprint = (reasoner: ReasonerSource) => string;

/** The version of everything but the sidecar that decides an answer. Stages with different fingerprints are not combined. */
export function createVersionFingerprint(
  { fusion, replanning }: PipelineConfig,
  version: string,
  registry: ToolRegistry,
): VersionFingerprint {
  const rules = hash([version, PIPELINE_VERSION, fusion, replanning, registry.rows]);
  return weakMemoize(({ identity, version: reasonerVersion }: ReasonerSource) =>
    hash([rules, identity, reasonerVersion]),
  );
}

export async function computeDigest(
  { files, body }: Pick<AssessUpload, 'files' | 'body'>,
  fingerprint: string,
  sidecar: SidecarClient,
): Promise<string> {
  const engine = await sidecar.tools().then(hashEngine, () => null);
  const { image, reference, backend, ...question } = body;
  return hash([
    fingerprint,
    engine,
    files.image.sha256,
    files.reference?.sha256 ?? null,
    {
      query: DEFAULT_QUERY,
      max_replan_iterations: DEFAULT_MAX_REPLAN_ITERATIONS,
      align: 'none',
      choices: [],
      regions: [],
      prior_context: null,
      maps: [],
      ...question,
    },
  ]);
}

/** The tool list is long: hashed once for each response of the sidecar. */
const hashEngine = weakMemoize(({ engine, measurements, tools }: SidecarTools) =>
  hash([engine, measurements.version, tools]),
);

/** Weak: equal answers may differ in request ids and timings. */
export const formatEtag = (digest: string): string => `W/"${digest.slice(0, 32)}"`;

/** RFC 9110, section 13.1.2: the comparison is weak, and * matches any ETag. */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
  return ifNoneMatch.split(',').some((tag) => tag.trim() === '*' || opaque(tag) === opaque(etag));
}
