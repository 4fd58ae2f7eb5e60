// Counts the usage of an assessment's model calls by role, and refuses calls that could exceed the limits.
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
  /** Reserves a call, or names the limit that forbids it. */
  reserve: (role: Role, backend: Backend, request: VLMRequest) => Reservation | { refused: string };
  /** Whether a speculative call fits, together with the calls that may still follow. */
  hasRoomForSpeculation: (backend: Backend, request: VLMRequest) => boolean;
  usage: () => Usage & { roles: Record<Role, Usage> };
}

interface Reservation {
  /** Records the usage; if it is unknown (null), the reserved amount stays spent. */
  settle: (usage: TokenUsage | null) => void;
  /** The call failed. The reserved amount is returned only if the provider certainly charges nothing. */
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
      const maxCost = computeCostUsd(estimateMaxTokens(request), prices);
      if (calls >= max_calls) return { refused: `the limit of ${max_calls} model calls is reached` };
      if (max_cost_usd !== null && committed + maxCost > max_cost_usd)
        return { refused: `another model call could exceed the limit of ${max_cost_usd} USD` };
      calls += 1;
      committed += maxCost;
      used[role].calls += 1;
      return {
        settle(usage) {
          if (!usage) return;
          const cost = computeCostUsd(usage, prices);
          committed += cost - maxCost;
          used[role].input_tokens += usage.inputTokens;
          used[role].output_tokens += usage.outputTokens;
          used[role].cost_usd += cost;
        },
        release(certainlyFree) {
          if (certainlyFree) committed -= maxCost;
        },
      };
    },
    hasRoomForSpeculation({ prices }, request) {
      const maxCost = computeCostUsd(estimateMaxTokens(request), prices);
      return (
        calls + CALLS_WITH_SPECULATION <= max_calls &&
        (max_cost_usd === null || committed + CALLS_WITH_SPECULATION * maxCost <= max_cost_usd)
      );
    },
    usage: () => ({ ...sumUsage(Object.values(used)), roles: mapValues(used, roundCost) }),
  };
}

/** The speculative call, its replacement if it was wrong, the summarizer's call, and one retry of each of the latter two. */
const CALLS_WITH_SPECULATION = 5;

const CHARACTERS_PER_TOKEN = 2;
const PIXELS_PER_TOKEN = 500;

/** Upper bound: text has three to four characters per token, images 700 or more pixels. */
function estimateMaxTokens({ system, turns, images, schema, maxTokens }: VLMRequest): TokenUsage {
  const characters =
    system.length +
    turns.reduce((sum, turn) => sum + turn.text.length, 0) +
    (schema ? JSON.stringify(schema.document).length : 0);
  const pixels = images.reduce((sum, { width, height }) => sum + width * height, 0);
  const inputTokens =
    Math.ceil(characters / CHARACTERS_PER_TOKEN + pixels / PIXELS_PER_TOKEN) + 500 * (1 + images.length);
  return { inputTokens, cachedInputTokens: 0, writtenInputTokens: inputTokens, outputTokens: maxTokens };
}

/** Never negative, even if a server reports more cached tokens than input tokens. */
function computeCostUsd(
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

function sumUsage(roles: readonly Usage[]): Usage {
  const sum = (field: keyof Usage) => roles.reduce((result, usage) => result + usage[field], 0);
  return roundCost({
    calls: sum('calls'),
    input_tokens: sum('input_tokens'),
    output_tokens: sum('output_tokens'),
    cost_usd: sum('cost_usd'),
  });
}

/** To a millionth of a dollar. */
const roundCost = (usage: Usage): Usage => ({ ...usage, cost_usd: Math.round(usage.cost_usd * 1e6) / 1e6 });
const mapValues = (used: Record<Role, Usage>, map: (usage: Usage) => Usage) =>
  Object.fromEntries(Object.entries(used).map(([role, usage]) => [role, map(usage)])) as Record<Role, Usage>;
