// What the model calls of one assessment used, by role, and the limits that no call may cross.
import type { Backend } from './backends.ts';
import type { TokenUsage, VLMRequest } from './client.ts';
import { ROLES, type Role } from './config-file.ts';

export interface Usage {
  calls: number;
  input_tokens: number;
  output_tokens: number;
  cost_usd: number;
}

export interface Limits {
  max_calls: number;
  max_cost_usd: number | null;
}

export interface Budget {
  /** Takes a call out of the budget, or says which limit forbids it. */
  reserve: (role: Role, backend: Backend, request: VLMRequest) => Reservation | { refused: string };
  /** Whether a call that may turn out to be useless can be made, and as many as then follow still fit. */
  hasRoomForSpeculation: (backend: Backend, request: VLMRequest) => boolean;
  usage: () => Usage & { roles: Record<Role, Usage> };
}

export interface Reservation {
  /** What the call used; null where nobody knows: then what was set aside for it stays spent. */
  settle: (usage: TokenUsage | null) => void;
  /** The call brought nothing. What was set aside comes back only if the provider certainly charges nothing. */
  release: (certainlyFree: boolean) => void;
}

export function createBudget({ max_calls, max_cost_usd }: Limits): Budget {
  const used = Object.fromEntries(
    ROLES.map((role) => [role, { calls: 0, input_tokens: 0, output_tokens: 0, cost_usd: 0 }]),
  ) as Record<Role, Usage>;
  let calls = 0;
  let committed = 0;
  return {
    reserve(role, { prices }, request) {
      const most = costOf(mostTokens(request), prices);
      if (calls >= max_calls) return { refused: `the limit of ${max_calls} model calls is reached` };
      if (max_cost_usd !== null && committed + most > max_cost_usd)
        return { refused: `another model call could cross the limit of ${max_cost_usd} USD` };
      calls += 1;
      committed += most;
      used[role].calls += 1;
      return {
        settle(usage) {
          if (!usage) return;
          const cost = costOf(usage, prices);
          committed += cost - most;
          used[role].input_tokens += usage.inputTokens;
          used[role].output_tokens += usage.outputTokens;
          used[role].cost_usd += cost;
        },
        release(certainlyFree) {
          if (certainlyFree) committed -= most;
        },
      };
    },
    hasRoomForSpeculation({ prices }, request) {
      const most = costOf(mostTokens(request), prices);
      return (
        calls + SPARE_CALLS <= max_calls && (max_cost_usd === null || committed + SPARE_CALLS * most <= max_cost_usd)
      );
    },
    usage: () => ({ ...total(Object.values(used)), roles: mapValues(used, rounded) }),
  };
}

/** The call itself, the one that takes its place if it was in vain, the summarizer's, and a retry of each of these two. */
const SPARE_CALLS = 5;

const CHARACTERS_PER_TOKEN = 2;
const PIXELS_PER_TOKEN = 500;

/** More than any call takes: text has three to four characters a token, pictures 700 or more pixels. */
function mostTokens({ system, turns, images, schema, maxTokens }: VLMRequest): TokenUsage {
  const characters =
    system.length +
    turns.reduce((sum, turn) => sum + turn.text.length, 0) +
    (schema ? JSON.stringify(schema.document).length : 0);
  const pixels = images.reduce((sum, { width, height }) => sum + width * height, 0);
  const inputTokens =
    Math.ceil(characters / CHARACTERS_PER_TOKEN + pixels / PIXELS_PER_TOKEN) + 500 * (1 + images.length);
  return { inputTokens, cachedInputTokens: 0, writtenInputTokens: inputTokens, outputTokens: maxTokens };
}

/** Never below zero: a server that tells of more cached tokens than it read earns nobody money. */
function costOf(
  { inputTokens, cachedInputTokens, writtenInputTokens, outputTokens }: TokenUsage,
  prices: Backend['prices'],
): number {
  const cached = Math.min(cachedInputTokens, inputTokens);
  const written = Math.min(writtenInputTokens, inputTokens - cached);
  const plain = inputTokens - cached - written;
  return (
    (plain * prices.input +
      cached * prices.cached_input +
      written * (prices.cache_write ?? prices.input) +
      outputTokens * prices.output) /
    1e6
  );
}

function total(roles: readonly Usage[]): Usage {
  const sum = (field: keyof Usage) => roles.reduce((result, usage) => result + usage[field], 0);
  return rounded({
    calls: sum('calls'),
    input_tokens: sum('input_tokens'),
    output_tokens: sum('output_tokens'),
    cost_usd: sum('cost_usd'),
  });
}

/** A millionth of a dollar is fine enough. */
const rounded = (usage: Usage): Usage => ({ ...usage, cost_usd: Math.round(usage.cost_usd * 1e6) / 1e6 });
const mapValues = (used: Record<Role, Usage>, map: (usage: Usage) => Usage) =>
  Object.fromEntries(Object.entries(used).map(([role, usage]) => [role, map(usage)])) as Record<Role, Usage>;
