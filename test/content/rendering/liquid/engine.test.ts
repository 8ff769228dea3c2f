// Parsing of Liquid, as save and publish check it: the first problem with its line, within a
// bounded time.
import { describe, expect, it } from 'vitest';
import { type LiquidRules, parseLiquid } from '../../../../src/content/rendering/liquid/engine.ts';
import { TemplateProblem } from '../../../../src/content/rendering/problem.ts';

const html: LiquidRules = { kind: 'html', allowRawHtml: false, partials: new Set(['row']) };

function problemIn(text: string, rules: Partial<LiquidRules> = {}): [number | null, string] {
  try {
    parseLiquid(text, 'body.html', { ...html, ...rules });
  } catch (error) {
    if (!(error instanceof TemplateProblem)) throw error;
    expect(error.path).toBe('body.html');
    return [error.line, error.message];
  }
  throw new Error('the text was accepted');
}

describe('parseLiquid', () => {
  it.each([
    ["{% include '/etc/passwd' %}", /include is not available: use \{% render/],
    ["{% layout 'x' %}", /the tag layout is not available/],
    ['{% block x %}{% endblock %}', /the tag block is not available/],
    ['{% liquid\n assign x = 1 %}', /the tag liquid is not available/],
    ['{% tablerow x in y %}{% endtablerow %}', /the tag tablerow is not available/],
    ['{% constructor %}', /the tag constructor is not available/],
    ['{% __proto__ %}', /the tag __proto__ is not available/],
    ['{% else %}', /else stands outside of if/],
    ['{% endif %}', /endif ends a block that is not open/],
    ["{% render '/etc/passwd' %}", /without its folder/],
    ["{% render '../x' %}", /without its folder/],
    ["{% render 'none' %}", /there is no partial none/],
    ["{% render 'a-{{ b }}' %}", /in quotes/],
    ['{% render name %}', /in quotes/],
    ["{% render 'other' %}", /there is no partial other/],
    ['{% brand_footer x %}', /takes no parameters/],
    ['{{ x | raw }}', /raw is refused: allow it by allowRawHtml/],
    ['{{ x | constructor }}', /there is no filter constructor/],
    ["{{ x | where_exp: 'a', 'b' }}", /there is no filter where_exp/],
    ['{{ x | push: x }}', /there is no filter push/],
    ['{{ x', /not closed/],
    ['{% if x', /not closed/],
    ['{{ }}', /invalid value/],
  ])('refuses %s with its line', (text, reason) => {
    const [line, message] = problemIn(`one\ntwo ${text}`);
    expect(message).toMatch(reason);
    expect(line).toBe(2);
  });

  it('names the line of the tag inside of blocks', () => {
    expect(problemIn('{% if a %}\n{% for b in c %}\n{% include "x" %}\n')[0]).toBe(3);
  });

  it('refuses 65 nested if', () => {
    const [line, message] = problemIn(`${'{% if a %}\n'.repeat(65)}${'{% endif %}'.repeat(65)}`);
    expect(message).toBe('blocks are nested over 64 deep');
    expect(line).toBe(65);
  });

  it('refuses 9,000 nested if', () => {
    const text = `${'{% if a %}'.repeat(9000)}${'{% endif %}'.repeat(9000)}`;
    expect(problemIn(text)[1]).toBe('a text has at most 5000 tags and outputs');
  });

  it('refuses a text of 2 MB', () => {
    expect(problemIn('x'.repeat(2_000_000))[1]).toBe('has at most 1000000 characters');
  });

  it('refuses 100,000 outputs', () => {
    expect(problemIn('{{a}}'.repeat(100_000))[1]).toBe('a text has at most 5000 tags and outputs');
  });

  it('refuses 100,001 characters of tags', () => {
    const text = `\n{{ ${'a'.repeat(50_000)} }}{{ b${' | upcase'.repeat(6_000)} }}`;
    const reason = 'tags and outputs have over 100000 characters together';
    expect(problemIn(text)).toEqual([2, reason]);
  });

  it.each(['(', '[', 'a['])('refuses 40,000 open %s', (open) => {
    expect(problemIn(`{{ ${open.repeat(40_000)} }}`)[1]).toMatch(/^brackets are nested too deep$/);
  });

  it('takes raw where the template allows raw HTML', () => {
    const rules = { ...html, allowRawHtml: true };
    expect(parseLiquid('{{ x | raw }}', 'body.html', rules).templates).toHaveLength(1);
  });

  it('names the partials that blocks render', () => {
    const parsed = parseLiquid("{% if a %}{% render 'row', b: c %}{% endif %}", 'body.html', html);
    expect([...parsed.partials]).toEqual(['row']);
  });

  it('finds the footer of the brand inside of blocks', () => {
    const parsed = parseLiquid('{% if a %}{% brand_footer %}{% endif %}', 'body.html', html);
    expect(parsed.placesFooter).toBe(true);
  });
});
