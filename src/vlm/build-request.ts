// What is said to a back end: the question as it is put to it, the complaint about its last answer, and the key under which an answer is known again.
import { createHash } from 'node:crypto';
import type { TSchema } from 'typebox';
import type { Backend } from './backends.ts';
import type { Picture, Turn, VLMReply, VLMRequest } from './client.ts';
import type { Role, RoleSettings } from './config-file.ts';
import { toProviderSchema } from './providers/provider-schema.ts';

/** A question as one back end is asked it. */
export interface Composed<T> {
  /** Also the name of the schema. */
  task: string;
  promptVersion: string;
  system: string;
  prompt: string;
  pictures: readonly Picture[];
  schema: TSchema;
  logprobs: boolean;
  /** Validates what the model said; throws ValidationError. Tells each repair that it made. */
  read: (value: Record<string, unknown>, reply: VLMReply, repaired: (what: string) => void) => T;
}

export interface Complaint {
  reply: string;
  problem: string;
}

export function requestOf<T>(
  composed: Composed<T>,
  { capabilities }: Backend,
  role: RoleSettings,
  complaint: Complaint | null,
): VLMRequest {
  const document = toProviderSchema(composed.schema);
  const { structuredOutput } = capabilities;
  return {
    system: structuredOutput
      ? composed.system
      : `${composed.system}\n\nAnswer with one JSON object and nothing else. Its JSON Schema:\n${JSON.stringify(document)}`,
    turns: turnsOf(composed.prompt, complaint),
    pictures: composed.pictures,
    schema: structuredOutput ? { name: composed.task, document } : null,
    temperature: role.temperature,
    topP: role.top_p,
    maxTokens: role.max_tokens,
    logprobs: composed.logprobs ? capabilities.logprobs : 0,
  };
}

/** A retry tells exactly what was wrong with the last answer. */
function turnsOf(prompt: string, complaint: Complaint | null): Turn[] {
  if (!complaint) return [{ role: 'user', text: prompt }];
  const demand = `Your last answer was not valid: ${complaint.problem}. Answer the same question again. Return valid JSON only, one object that keeps to the schema, without prose and without a code fence.`;
  if (complaint.reply.trim() === '') return [{ role: 'user', text: `${prompt}\n\n${demand}` }];
  return [
    { role: 'user', text: prompt },
    { role: 'assistant', text: complaint.reply },
    { role: 'user', text: demand },
  ];
}

/** Everything that an answer depends on: the query is in the prompt, the picture's hash in its key. */
export function cacheKey<T>(
  role: Role,
  { name, model }: Backend,
  composed: Composed<T>,
  { temperature, top_p, max_tokens }: RoleSettings,
): string {
  const { task, promptVersion, system, prompt, pictures, schema } = composed;
  const parts = [
    role,
    task,
    promptVersion,
    name,
    model,
    temperature,
    top_p,
    max_tokens,
    system,
    prompt,
    pictures.map((picture) => picture.key),
    schema,
  ];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
