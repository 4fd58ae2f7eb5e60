// Which reasoner answers a request: the one it names among those configured, or the default of each role.
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import type { Config } from '../config/config.ts';
import { IqaError } from '../errors.ts';
import type { ToolRegistry } from '../tools/registry.ts';
import { createBackends, type Backend, type Backends } from '../vlm/backends.ts';
import { AUTO, EMBEDDED, ROLES, type Role } from '../vlm/config-file.ts';
import type { Answered } from '../vlm/session.ts';
import { loadLexicon } from './embedded/query/lexicon.ts';
import { createEmbeddedReasoner } from './embedded/reasoner.ts';
import { loadSeverityRules } from './embedded/findings/severity-rules.ts';
import { understandQuery } from './embedded/query/parse-query.ts';
import type { ReasonerSource } from './reasoner.ts';
import { createVLMReasoner } from './vlm/reasoner.ts';

export function createReasoners(
  config: Config,
  registry: ToolRegistry,
): (backend: string | undefined) => ReasonerSource {
  const lexicon = loadLexicon(join(config.root, 'configs/lexicon.yaml'));
  const embedded = createEmbeddedReasoner({ lexicon, rules: loadSeverityRules(config.root), registry });
  const { models } = config;
  const backends = createBackends(config);
  const cache = models.cache.entries > 0 ? new LRUCache<string, Answered<object>>({ max: models.cache.entries }) : null;

  const vocabulary = { lexicon, tools: registry.rows };

  const sourceFor = (name: string | null): ReasonerSource => {
    const meant = byRole((role) => backends.meaningOf(name ?? models[role].backend));
    if (ROLES.every((role) => meant[role] === EMBEDDED))
      return { identity: embedded.identity, version: embedded.version, create: () => embedded };
    return createVLMReasoner({
      models,
      intended: meant,
      chain: byRole((role) => chainOf(meant[role], models[role].fallback_backend, backends)),
      stageTimeouts: config.pipeline.timeouts_ms,
      registry,
      embedded,
      cache,
      understand: (query, choices) => understandQuery(query, vocabulary, choices),
    });
  };

  const byName = new Map<string, ReasonerSource>([[AUTO, sourceFor(null)]]);
  warmUp(
    ROLES.flatMap((role) => chainOf(backends.meaningOf(models[role].backend), models[role].fallback_backend, backends)),
  );
  return (backend = AUTO) => {
    const name = backend.trim().toLowerCase();
    const known = byName.get(name);
    if (known) return known;
    refuseUnusable(backend, backends);
    const source = sourceFor(name);
    byName.set(name, source);
    return source;
  };
}

const byRole = <T>(value: (role: Role) => T): Record<Role, T> =>
  Object.fromEntries(ROLES.map((role) => [role, value(role)])) as Record<Role, T>;

/** The back end and its fallback, as far as they have their keys. Embedded means no model at all. */
function chainOf(name: string, fallback: string | null, backends: Backends): Backend[] {
  if (name === EMBEDDED) return [];
  return [name, fallback]
    .map((candidate) => (candidate === null ? null : backends.resolve(candidate)))
    .filter((found): found is Backend => found !== null && 'client' in found)
    .filter((backend, index, all) => all.indexOf(backend) === index);
}

function refuseUnusable(backend: string, backends: Backends): void {
  const found = backends.resolve(backend.trim());
  if (backends.meaningOf(backend.trim()) === EMBEDDED || (found && 'client' in found)) return;
  throw new IqaError(
    'IQA_INPUT_INVALID',
    `Expected one of ${backends.supported.join(', ')} for backend but received "${backend}"`,
  );
}

/** The first request should not wait for an SDK to load; nor should the start. */
function warmUp(used: readonly Backend[]): void {
  setImmediate(() => {
    for (const client of new Set(used.map((backend) => backend.client))) client.warmUp().catch(() => undefined);
  });
}
