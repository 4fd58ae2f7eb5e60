// Extracts the JSON object from a model's reply: bare, in a code fence, or within prose.

/** The object, or undefined. Incomplete objects are not repaired. */
export function extractJson(reply: string): Record<string, unknown> | undefined {
  // Open models emit their reasoning, which may contain tentative answers.
  const text = reply.replace(/^\s*<think(?:ing)?>[\s\S]*?<\/think(?:ing)?>/i, '');
  const fences = [...text.matchAll(/```(?:json)?\s*([\s\S]*?)```/gi)].map((match) => match[1] ?? '');
  for (const candidate of [text, ...fences]) {
    const parsed = parseObject(candidate);
    if (parsed) return parsed;
  }
  return findFirstObject(text);
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(text.replace(/^\ufeff/, '')) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

const MAX_STARTS = 20;
const MAX_CHARACTERS = 2_000_000;

/** The first balanced {…} that parses. Bounded, so that a long text full of braces does not take seconds. */
function findFirstObject(text: string): Record<string, unknown> | undefined {
  let start = text.indexOf('{');
  let characters = 0;
  for (let tried = 0; start !== -1 && tried < MAX_STARTS && characters < MAX_CHARACTERS; tried += 1) {
    const end = findObjectEnd(text, start);
    characters += (end === -1 ? text.length : end) - start;
    const parsed = end === -1 ? undefined : parseObject(text.slice(start, end));
    if (parsed) return parsed;
    start = text.indexOf('{', start + 1);
  }
  return undefined;
}

function findObjectEnd(text: string, start: number): number {
  let depth = 0;
  let quoted = false;
  for (let at = start; at < text.length; at += 1) {
    const character = text[at];
    if (quoted) {
      if (character === '\\') at += 1;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === '{') depth += 1;
    else if (character === '}') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}
