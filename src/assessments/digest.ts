// What an answer depends on, as one digest: the same digest means the same answer, so it makes the ETag and finds identical requests.
import { DEFAULT_QUERY, type AssessRequest } from '../../schemas/requests/assess.ts';
import { hash } from '../../schemas/validation/model.ts';
import { DEFAULT_MAX_REPLAN_ITERATIONS } from '../../schemas/pipeline/state.ts';
import type { SidecarTools } from '../../schemas/sidecar.ts';
import { weakMemoize } from '../lib/weak-memoize.ts';
import type { PipelineConfig } from '../config/config.ts';
import type { Upload } from '../uploads/assess-form.ts';
import type { ReasonerSource } from '../reasoners/reasoner.ts';
import { PIPELINE_VERSION } from './response.ts';
import type { ToolRegistry } from '../tools/registry.ts';
import type { SidecarClient } from '../tools/sidecar/client.ts';

export interface IdentityOptions {
  config: PipelineConfig;
  version: string;
  registry: ToolRegistry;
  sidecar: SidecarClient;
  selectReasoner: (backend: string | undefined) => ReasonerSource;
}

export type Identify = (upload: { files: Upload['files']; body: AssessRequest }) => Promise<string>;

export function createIdentity({ config, version, registry, sidecar, selectReasoner }: IdentityOptions): Identify {
  const fingerprint = createFingerprint({ config, version, registry, selectReasoner });
  return async ({ files, body }) => {
    const engine = await sidecar.tools().then(engineDigest, () => null);
    const { image, reference, backend, ...question } = body;
    return hash([
      fingerprint(body.backend),
      engine,
      files.get('image')?.sha256,
      files.get('reference')?.sha256 ?? null,
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
  };
}

/** The list of tools is long: hashed once for each answer of the sidecar. */
const engineDigest = weakMemoize(({ engine, measurements, tools }: SidecarTools) =>
  hash([engine, measurements.version, tools]),
);

/** The rules that a stage works by, whatever it is asked: stages made under different ones are not put together. */
export function createFingerprint({
  config,
  version,
  registry,
  selectReasoner,
}: Omit<IdentityOptions, 'sidecar'>): (backend: string | undefined) => string {
  const rules = hash([version, PIPELINE_VERSION, config.fusion, config.replanning, registry.rows]);
  const digest = weakMemoize((reasoner: ReasonerSource) => hash([rules, reasoner.identity, reasoner.version]));
  return (backend) => digest(selectReasoner(backend));
}

/** Weak: two answers with it agree in what they say, not in request ids and timings. */
export const etagOf = (digest: string): string => `W/"${digest.slice(0, 32)}"`;

/** RFC 9110, section 13.1.2: the comparison is weak, and * stands for any. */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
  return ifNoneMatch.split(',').some((tag) => tag.trim() === '*' || opaque(tag) === opaque(etag));
}
