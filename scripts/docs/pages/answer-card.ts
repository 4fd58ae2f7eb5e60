// Draws docs/answer-card.svg: the example image beside the recorded answer to it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readExampleAnswer } from '../example-answer.ts';
import { root, wrapText } from '../page.ts';

const WIDTH = 860;
const IMAGE = { width: 352, height: 264 };
const PADDING = 24;
const TEXT_X = PADDING * 2 + IMAGE.width;
const SCALE = { left: TEXT_X + 6, right: WIDTH - PADDING - 6, y: 122 };
const LINE_CHARACTERS = 64;
const SEVERITY_COLOURS: Record<string, string> = {
  none: '#57ab5a',
  slight: '#d4a72c',
  moderate: '#e0823d',
  severe: '#d1242f',
  extreme: '#a40e26',
};

export function answerCard(): string {
  const { query, quality_score: score, summarizer_result: result, findings } = readExampleAnswer();
  const jpeg = readFileSync(join(root, 'docs/example.jpg')).toString('base64');
  const [low = score.value, high = score.value] = score.interval;
  const lines = wrapText(result.quality_reasoning, LINE_CHARACTERS);
  const height = Math.max(PADDING * 2 + IMAGE.height, 204 + lines.length * 19 + PADDING);
  const chips = findings.map(({ distortion, severity }, index) => {
    const x = TEXT_X + index * 176;
    return `<rect x="${x}" y="156" width="166" height="24" rx="12" fill="${SEVERITY_COLOURS[severity] ?? '#888'}"/><text x="${x + 83}" y="172" text-anchor="middle" fill="white">${escapeXml(`${distortion}: ${severity}`)}</text>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" font-family="-apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif" font-size="13">`,
    `<title>${escapeXml(`${query} ${result.final_answer}`)}</title>`,
    `<rect x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="10" fill="#ffffff" stroke="#d0d7de"/>`,
    `<image x="${PADDING}" y="${PADDING}" width="${IMAGE.width}" height="${IMAGE.height}" href="data:image/jpeg;base64,${jpeg}"/>`,
    `<text x="${TEXT_X}" y="40" fill="#57606a" font-style="italic">${escapeXml(query)}</text>`,
    `<text x="${TEXT_X}" y="82" font-size="30" font-weight="600" fill="#1f2328">${escapeXml(result.final_answer)}</text>`,
    `<text x="${SCALE.right}" y="82" font-size="20" text-anchor="end" fill="#1f2328">${score.value.toFixed(2)} of 5</text>`,
    `<line x1="${SCALE.left}" x2="${SCALE.right}" y1="${SCALE.y}" y2="${SCALE.y}" stroke="#d0d7de" stroke-width="4" stroke-linecap="round"/>`,
    `<line x1="${toX(low)}" x2="${toX(high)}" y1="${SCALE.y}" y2="${SCALE.y}" stroke="#54aeff" stroke-width="10" stroke-linecap="round"/>`,
    `<circle cx="${toX(score.value)}" cy="${SCALE.y}" r="7" fill="#0969da" stroke="white" stroke-width="2"/>`,
    `<text x="${toX(score.value)}" y="${SCALE.y - 14}" text-anchor="middle" font-size="11" fill="#57606a">80 % interval</text>`,
    ...[1, 2, 3, 4, 5].map(
      (level) =>
        `<text x="${toX(level)}" y="${SCALE.y + 20}" text-anchor="middle" font-size="11" fill="#57606a">${level}</text>`,
    ),
    ...chips,
    ...lines.map(
      (line, index) => `<text x="${TEXT_X}" y="${206 + index * 19}" fill="#1f2328">${escapeXml(line)}</text>`,
    ),
    '</svg>',
    '',
  ].join('\n');
}

const toX = (score: number): string => (SCALE.left + ((score - 1) / 4) * (SCALE.right - SCALE.left)).toFixed(1);

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
