// Text as a model's tokens with log-probabilities: the level of final_answer has the probabilities that a test gives, all else is certain.
import type { TokenLogprobs } from '../../../src/vlm/client.ts';

export function tokensOf(text: string, levels: Record<string, number> = {}, most = 20): TokenLogprobs[] {
  const pieces = text.match(/"final_answer"\s*:\s*"|\w+|\W/g) ?? [];
  let atLevel = false;
  return pieces.map((token) => {
    const alternatives =
      atLevel && Object.keys(levels).length > 0
        ? Object.entries(levels)
            .map(([word, share]) => ({ token: word, logprob: Math.log(share) }))
            .toSorted((a, b) => b.logprob - a.logprob)
            .slice(0, most)
        : [{ token, logprob: 0 }];
    atLevel = token.startsWith('"final_answer"');
    return { token, logprob: alternatives.find((item) => item.token === token)?.logprob ?? 0, alternatives };
  });
}
