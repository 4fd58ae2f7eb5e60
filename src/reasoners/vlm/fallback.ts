// Runs a role with its models; the embedded reasoner takes over when no model is configured or all of them failed.
import type { FastifyBaseLogger } from 'fastify';
import { ModelFailedError } from '../../errors.ts';
import { EMBEDDED, type ModelBackends, type Role } from '../../vlm/config-file.ts';

interface RoleWork<T> {
  role: Role;
  withModel: () => Promise<T>;
  withRules: () => Promise<T>;
  signal: AbortSignal;
}

export interface Fallback {
  run: <T>(work: RoleWork<T>) => Promise<T>;
  /** Records an answer of another back end than the configured one. */
  noteAnswered: (role: Role, answered: { backend: string }) => void;
  /** Why roles were not done as configured; null when all were. */
  describe: () => string | null;
}

export function createFallback(
  intended: Record<Role, string>,
  models: Pick<ModelBackends, Role>,
  log: FastifyBaseLogger,
): Fallback {
  const reasons = new Map<Role, string>();
  return {
    async run({ role, withModel, withRules, signal }) {
      if (intended[role] === EMBEDDED) return withRules();
      try {
        return await withModel();
      } catch (error) {
        if (signal.aborted || !(error instanceof ModelFailedError) || models[role].degrade === 'none') throw error;
        log.warn({ role, reason: error.message }, 'The embedded reasoner takes over');
        reasons.set(role, `${role}: the embedded reasoner answered because ${error.message}`);
        return withRules();
      }
    },
    noteAnswered(role, { backend }) {
      if (backend !== intended[role]) reasons.set(role, `${role}: ${backend} answered in place of ${intended[role]}`);
    },
    describe: () => (reasons.size === 0 ? null : [...reasons.values()].join('; ')),
  };
}
