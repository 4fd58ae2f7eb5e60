// Which reasoner answers a request: the one it names among those configured, or the default.
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { IqaError } from '../errors.ts';
import type { ToolRegistry } from '../tools/registry.ts';
import { loadLexicon } from './embedded/lexicon.ts';
import { createEmbeddedReasoner } from './embedded/reasoner.ts';
import { loadSeverityRules } from './embedded/severity-rules.ts';
import type { Reasoner } from './reasoner.ts';

export function createReasoners(config: Config, registry: ToolRegistry): (backend: string | undefined) => Reasoner {
  const embedded = createEmbeddedReasoner({
    lexicon: loadLexicon(join(config.root, 'configs/lexicon.yaml')),
    rules: loadSeverityRules(config.root),
    registry,
  });
  const byName = new Map<string, Reasoner>([['auto', embedded], [embedded.identity.backend, embedded]]);
  return (backend = 'auto') => {
    const reasoner = byName.get(backend);
    if (!reasoner) throw new IqaError('IQA_INPUT_INVALID', `Expected one of ${[...byName.keys()].join(', ')} for backend but received "${backend}"`);
    return reasoner;
  };
}
