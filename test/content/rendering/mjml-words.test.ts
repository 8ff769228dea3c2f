// Each attribute that the reader of MJML accepts, rendered by mrml and by mjml 5: the trees are
// equal. An attribute that mrml drops would be lost without a word.
import mjml2html from 'mjml';
import { describe, expect, it } from 'vitest';
import { compileSources } from '../../../src/content/rendering/compile/compile-sources.ts';
import { bodyTags, wordsOf } from '../../../src/content/rendering/compile/mjml-words.ts';
import { renderingTree, withoutKnownDifferences } from './rendering-tree.ts';

const inBody = (content: string) => `<mjml><mj-body>${content}</mj-body></mjml>`;
const inColumn = (content: string) =>
  inBody(`<mj-section><mj-column>${content}</mj-column></mj-section>`);
const column = '<mj-column><mj-text>x</mj-text><mj-image src="a" /></mj-column>';

/** A document with one element for each list of attributes. */
const documents: Record<string, (attributes: readonly string[]) => string> = {
  'mj-wrapper': (all) =>
    inBody(
      all
        .map((one) => `<mj-wrapper ${one}><mj-section>${column}</mj-section></mj-wrapper>`)
        .join(''),
    ),
  'mj-section': (all) =>
    inBody(all.map((one) => `<mj-section ${one}>${column}</mj-section>`).join('')),
  'mj-hero': (all) =>
    inBody(all.map((one) => `<mj-hero ${one}><mj-text>x</mj-text></mj-hero>`).join('')),
  'mj-group': (all) =>
    inBody(
      all
        .map((one) => `<mj-section><mj-group ${one}>${column}${column}</mj-group></mj-section>`)
        .join(''),
    ),
  'mj-column': (all) =>
    inBody(
      all
        .map(
          (one) =>
            `<mj-section><mj-column ${one}><mj-text>x</mj-text><mj-image src="a" /></mj-column></mj-section>`,
        )
        .join(''),
    ),
  'mj-table': (all) =>
    inColumn(all.map((one) => `<mj-table ${one}><tr><td>x</td></tr></mj-table>`).join('')),
  'mj-social': (all) =>
    inColumn(
      all
        .map(
          (one) =>
            `<mj-social ${one}><mj-social-element name="facebook" href="https://a.test/">x</mj-social-element></mj-social>`,
        )
        .join(''),
    ),
  'mj-social-element': (all) =>
    inColumn(
      `<mj-social>${all.map((one) => `<mj-social-element ${one}>x</mj-social-element>`).join('')}</mj-social>`,
    ),
  'mj-navbar': (all) =>
    inColumn(
      all
        .map((one) => `<mj-navbar ${one}><mj-navbar-link href="/a">x</mj-navbar-link></mj-navbar>`)
        .join(''),
    ),
  'mj-navbar-link': (all) =>
    inColumn(
      `<mj-navbar>${all.map((one) => `<mj-navbar-link ${one}>x</mj-navbar-link>`).join('')}</mj-navbar>`,
    ),
  'mj-accordion': (all) => inColumn(all.map((one) => accordion(one)).join('')),
  'mj-accordion-element': (all) => inColumn(all.map((one) => accordion('', one)).join('')),
  'mj-accordion-title': (all) => inColumn(all.map((one) => accordion('', '', one)).join('')),
  'mj-accordion-text': (all) => inColumn(all.map((one) => accordion('', '', '', one)).join('')),
};

function accordion(whole: string, element = '', title = '', text = ''): string {
  return (
    `<mj-accordion ${whole}><mj-accordion-element ${element}><mj-accordion-title ${title}>x</mj-accordion-title>` +
    `<mj-accordion-text ${text}>y</mj-accordion-text></mj-accordion-element></mj-accordion>`
  );
}

const enums: Record<string, string[]> = {
  align: ['left', 'center', 'right'],
  'text-align': ['left', 'center', 'right'],
  'ico-align': ['left', 'right'],
  'icon-align': ['top', 'bottom'],
  'icon-position': ['left', 'right'],
  'vertical-align': ['top', 'middle', 'bottom'],
  direction: ['ltr', 'rtl'],
  'full-width': ['full-width', 'false'],
  'background-repeat': ['repeat', 'no-repeat'],
  'background-size': ['cover', 'auto', '100px 50px'],
  'background-position': ['center top', '10px 20px'],
  'background-position-x': ['left', '20%'],
  'background-position-y': ['top', '20%'],
  'fluid-on-mobile': ['true', 'false'],
  'table-layout': ['auto', 'fixed'],
  hamburger: ['hamburger'],
  'font-weight': ['bold', '700'],
  'font-style': ['italic'],
  'text-decoration': ['underline'],
  'text-transform': ['uppercase'],
  'line-height': ['1.5', '20px'],
  'ico-line-height': ['1.5', '20px'],
  'letter-spacing': ['2px', '-1px'],
  cellpadding: ['3'],
  'border-style': ['dashed'],
  'border-width': ['2px'],
  srcset: ['a 1x, b 2x'],
  'max-height': ['50px'],
};

function valuesOf(tag: string, name: string): string[] {
  if (name === 'mode') return tag === 'mj-hero' ? ['fixed-height'] : ['horizontal', 'vertical'];
  if (name === 'name')
    return tag === 'mj-social-element' ? ['facebook', 'x', 'github-noshare'] : ['abc'];
  const known = enums[name];
  if (known) return known;
  if (/color$/.test(name)) return ['red', '#abc', 'rgba(1,2,3,0.5)'];
  if (/padding$/.test(name)) return ['12px', '5px 10px', '1px 2px 3px', '1px 2px 3px 4px'];
  if (/padding-/.test(name)) return ['7px', '0'];
  if (/radius$/.test(name)) return ['5px', '1px 2px'];
  if (/border/.test(name)) return ['1px solid red', 'none'];
  if (
    /^(?:width|height|icon-size|icon-width|icon-height|tb-width|.*font-size|background-(?:width|height))$/.test(
      name,
    )
  ) {
    return ['44px'];
  }
  if (/href|src|url|-icon$/.test(name)) return ['https://a.test/b?c=1&amp;d=2'];
  return ['abc d'];
}

/** Attributes that an element needs besides the one in question. */
const needed: Record<string, string> = {
  'mj-button': 'href="/a"',
  'mj-image': 'src="a"',
  'mj-social-element': 'src="a" href="https://a.test/"',
  'mj-navbar-link': 'href="/a"',
};

async function treesOf(mjml: string) {
  const { compiled } = compileSources({
    files: { 'template.yaml': 'subject: x', 'body.mjml': mjml },
    brandCss: '',
  });
  const reference = await mjml2html(mjml, { fonts: {}, validationLevel: 'strict' });
  return {
    ours: withoutKnownDifferences(renderingTree(compiled.html ?? '')),
    theirs: withoutKnownDifferences(renderingTree(reference.html)),
  };
}

describe('attributes of MJML', () => {
  for (const tag of bodyTags) {
    if (tag === 'mj-raw') continue;
    it(`of ${tag} are rendered as mjml does`, async () => {
      const { attributes = [], content = null } = wordsOf(tag) ?? {};
      const filled = [...attributes, 'css-class'].flatMap((name) =>
        valuesOf(tag, name).map((value) => {
          const others = (needed[tag] ?? '')
            .split(' ')
            .filter((one) => !one.startsWith(`${name}=`));
          return `${others.join(' ')} ${name}="${value}"`;
        }),
      );
      const plain = (all: readonly string[]) =>
        inColumn(
          all.map((one) => `<${tag} ${one}>${content === 'html' ? 'x' : ''}</${tag}>`).join(''),
        );
      const { ours, theirs } = await treesOf((documents[tag] ?? plain)(filled));
      expect(ours).toEqual(theirs);
    });
  }

  it('of mj-body are rendered as mjml does', async () => {
    const { ours, theirs } = await treesOf(
      `<mjml lang="de" dir="rtl"><mj-body width="500px" background-color="#abc"><mj-section>${column}</mj-section></mj-body></mjml>`,
    );
    expect(ours).toEqual(theirs);
  });
});
