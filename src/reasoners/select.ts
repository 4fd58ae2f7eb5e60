// Selects the reasoner of a request: the back end that it names, or the configured default of each role.
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import type { Config } from '../config/config.ts';
import { IqaError } from '../errors.ts';
import type { ToolRegistry } from '../tools/registry.ts';
import { createBackends, type Backend, type Backends } from '../vlm/backends.ts';
import { AUTO, EMBEDDED, ROLES, type Role } from '../vlm/config-file.ts';
import type { ModelAnswer } from '../vlm/session.ts';
import { loadSeverityRules } from './embedded/findings/severity-rules.ts';
import { loadLexicon } from './embedded/query/words/lexicon.ts';
import { createQueryParser } from './embedded/query/parse-query.ts';
import { createEmbeddedReasoner } from './embedded/reasoner.ts';
import type { ReasonerSource } from './reasoner.ts';
import { createVlmReasoner } from './vlm/reasoner.ts';

export function createReasoners(
  config: Config,
  registry: ToolRegistry,
): (backend: string | undefined) => ReasonerSource {
  const lexicon = loadLexicon(join(config.root, 'configs/lexicon.yaml'));
  const parser = createQueryParser({ lexicon, tools: registry.rows });
  const embedded = createEmbeddedReasoner({ parser, rules: loadSeverityRules(config.root) });
  const { models } = config;
  const backends = createBackends(config);
  const cache =
    models.cache.entries > 0 ? new LRUCache<string, ModelAnswer<object>>({ max: models.cache.entries }) : null;

  const createSource = (name: string | null): ReasonerSource => {
    const intended = byRole((role) => backends.resolveName(name ?? models[role].backend));
    if (ROLES.every((role) => intended[role] === EMBEDDED))
      return { identity: embedded.identity, version: embedded.version, create: () => embedded };
    return createVlmReasoner({
      models,
      intended,
      chain: byRole((role) => buildChain(intended[role], models[role].fallback_backend, backends)),
      stageTimeouts: config.pipeline.timeouts_ms,
      registry,
      embedded,
      parser,
      cache,
    });
  };

  const sources = new Map<string, ReasonerSource>([[AUTO, createSource(null)]]);
  warmUp(
    ROLES.flatMap((role) =>
      buildChain(backends.resolveName(models[role].backend), models[role].fallback_backend, backends),
    ),
  );
  return (backend = AUTO) => {
    const name = backend.trim().toLowerCase();
    const known = sources.get(name);
    if (known) return known;
    assertUsable(backend, backends);
    const source = createSource(name);
    sources.set(name, source);
    return source;
  };
}

const byRole = <T>(value: (role: Role) => T): Record<Role, T> =>
  Object.fromEntries(ROLES.map((role) => [role, value(role)])) as Record<Role, T>;

/** The back end and its fallback, as far as their keys are set. Empty for the embedded reasoner. */
function buildChain(name: string, fallback: string | null, backends: Backends): Backend[] {
  if (name === EMBEDDED) return [];
  return [name, fallback]
    .map((candidate) => (candidate === null ? null : backends.resolve(candidate)))
    .filter((found): found is Backend => found !== null && 'client' in found)
    .filter((backend, index, all) => all.indexOf(backend) === index);
}

function assertUsable(backend: string, backends: Backends): void {
  const found = backends.resolve(backend.trim());
  if (backends.resolveName(backend.trim()) === EMBEDDED || (found && 'client' in found)) return;
  throw new IqaError(
    'IQA_INPUT_INVALID',
    `Expected one of ${backends.supported.join(', ')} for backend but received "${backend}"`,
  );
}

/** Loads the SDKs after the start, so that neither the start nor the first request waits for them. */
function warmUp(used: readonly Backend[]): void {
  setImmediate(() => {
    for (const client of new Set(used.map((backend) => backend.client))) client.warmUp().catch(() => undefined);
  });
}
