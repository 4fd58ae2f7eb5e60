// Tools are found by whole names, longest first, and never in ordinary words.
import t from 'tap';
import { parseQuery } from '../../../../../src/reasoners/embedded/query/parse-query.ts';
import { VOCABULARY } from '../../../../support/reasoners/lexicon.ts';

const findTool = (query: string) => parseQuery(query, VOCABULARY).tool;

t.test('names and aliases, whatever the case', (t) => {
  const expected: [string, string][] = [
    ['What is the MS-SSIM?', 'MS-SSIM'],
    ['ms ssim please', 'MS-SSIM'],
    ['ms_ssim', 'MS-SSIM'],
    ['msssim?', 'MS-SSIM'],
    ['multi-scale SSIM', 'MS-SSIM'],
    ['compute ssim', 'SSIM'],
    ['the structural similarity to the original', 'SSIM'],
    ['SSIM-based score', 'SSIM'],
    ['PSNR/SSIM', 'PSNR'],
    ['vif', 'VIF'],
    ['vifp of it', 'VIF'],
    ['FSIMc', 'FSIM'],
    ['haarpsi', 'HaarPSI'],
    ['Use NIQE.', 'NIQE'],
    ['MAD score', 'MAD'],
    ['use the panel metric', 'Fusion'],
  ];
  for (const [query, name] of expected) t.equal(findTool(query), name, query);
  t.end();
});

t.test('ordinary text names no tool', (t) => {
  const queries = [
    'Is the panel of the door noisy?',
    'How is the image quality?',
    'Is the mad dog blurry?',
    'How much noise is there?',
    'Measure the noise.',
    'Is there fusion food?',
    'IW-SSIM',
    'PSNR-HVS',
    'assim',
    'vivid',
    'Is the haar cut visible?',
    'What is the noise score?',
  ];
  for (const query of queries) t.equal(findTool(query), null, query);
  t.end();
});

t.test('a tool that is refused is not required', (t) => {
  t.equal(findTool('Use VSI instead of SSIM.'), 'VSI');
  t.equal(findTool('Do not use SSIM, use VSI.'), 'VSI');
  t.equal(findTool("Rate it, but don't use LPIPS."), null);
  t.end();
});

t.test('the words of a tool name are not a distortion', (t) => {
  t.equal(parseQuery('What is the peak signal-to-noise ratio?', VOCABULARY).distortions, null);
  t.end();
});
