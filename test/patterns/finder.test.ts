import { describe, expect, it } from 'vitest';
import { patternsIn } from './source-patterns.ts';
import { compare, parseVerdicts, problemsOfConstructed } from './verdicts.ts';

const inventoryOf = (...patterns: [file: string, literal: string][]) => ({
  filesOf: new Map(patterns.map(([file, literal]) => [literal, [file]])),
  problems: [],
});

describe('the finder of patterns', () => {
  it('reads literals, and no division or comment', () => {
    const { literals } = patternsIn(
      'a.ts',
      'const a = b / c / d; // /x/\nx.replace(/\\s+[/]$/g, "");',
    );
    expect(literals).toEqual([{ file: 'a.ts', text: '/\\s+[/]$/g' }]);
  });

  it('tells constructions on load from those in functions', () => {
    const { onLoad, inFunctions } = patternsIn(
      'a.ts',
      'const a = new RegExp(b + "$", "i");\nconst c = (d) => RegExp(d);',
    );
    expect([onLoad, inFunctions].map(([one]) => one?.text)).toEqual(['b + "$"', 'd']);
  });

  it('reports a construction without a reason', () => {
    const problems = problemsOfConstructed([{ file: 'src/a.ts', text: 'query.q' }], []);
    expect(problems).toEqual([expect.stringContaining('src/a.ts: new RegExp(query.q)')]);
  });

  it('reports a reason whose construction is gone', () => {
    const problems = problemsOfConstructed([], [{ file: 'src/a.ts', text: 'name' }]);
    expect(problems).toEqual(['constructed.ts: src/a.ts has no new RegExp(name) any more']);
  });

  it('reports patterns without a verdict, and verdicts without a pattern', () => {
    const found = compare(
      inventoryOf(['src/a.ts', '/b+/']),
      parseVerdicts('# head\nsafe /a +/i\n'),
    );
    expect(found).toEqual({ undecided: ['/b+/'], gone: ['/a +/i'], problems: [] });
  });

  it('reports a bounded pattern in a file with other input', () => {
    const verdicts = parseVerdicts('reply /a.{0,60}b/\n');
    const { problems } = compare(inventoryOf(['daemon/a.ts', '/a.{0,60}b/']), verdicts);
    expect(problems).toEqual(['daemon/a.ts: does not meet the input "reply": /a.{0,60}b/']);
  });
});
