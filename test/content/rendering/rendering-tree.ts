// The tree that a mail program renders, as lines of text, to compare two texts of HTML. Left out is
// what no program shows: order of attributes and of classes, spaces between elements, spelling of
// colours, repeated declarations of one property but the last, 0px for 0. Conditional comments of
// Outlook are compared as their tags.
import { type DefaultTreeAdapterTypes, parse } from 'parse5';

type Node = DefaultTreeAdapterTypes.Node;

const byCode = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0);

const longColour = (text: string) =>
  text.replace(/#([0-9a-f])([0-9a-f])([0-9a-f])(?![0-9a-f])/gi, '#$1$1$2$2$3$3').toLowerCase();

/** Declarations by property. An important one stays, as it does in a browser. */
function declarationsOf(style: string): string {
  const found = new Map<string, string>();
  for (const piece of style.split(';')) {
    const [, name = '', value = ''] = /^\s*([\w-]+)\s*:\s*([\s\S]*?)\s*$/.exec(piece) ?? [];
    if (name === '' || (found.get(name)?.includes('!important') && !value.includes('!important')))
      continue;
    found.set(
      name.toLowerCase(),
      longColour(
        value
          .replace(/\s+/g, ' ')
          .replace(/, /g, ',')
          .replaceAll("'", '"')
          .replace(/\b0px\b/g, '0'),
      ),
    );
  }
  return [...found]
    .map(([name, value]) => `${name}:${value}`)
    .toSorted(byCode)
    .join(';');
}

function attributeOf(name: string, value: string): string {
  if (name === 'style') return `style=${declarationsOf(value)}`;
  const classes = value.split(/\s+/).filter((one) => one !== '');
  if (name === 'class') return `class=${classes.toSorted(byCode).join(' ')}`;
  const plain = longColour(value.trim());
  return `${name}=${name === 'width' || name === 'height' ? plain.replace(/px$/, '') : plain}`;
}

const isShown = (attribute: string) => !attribute.endsWith('=');

/** Rules of a style sheet; mjml and mrml write the classes of columns in different orders. */
function rulesOf(css: string): string[] {
  const plain = css
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\s+/g, '')
    .replace(/;\}/g, '}');
  return longColour(plain)
    .split(/(?<=\})/)
    .toSorted(byCode);
}

function conditionalOf(condition: string, inner: string): string[] {
  const tags = inner.replace(
    /<([\w:]+)((?:\s+[\w:-]+="[^"]*")*)\s*\/?>/g,
    (_, tag, attributes: string) => {
      const own = [...attributes.matchAll(/([\w:-]+)="([^"]*)"/g)]
        .map(([, name = '', value = '']) => attributeOf(name, value))
        .filter(isShown);
      return `<${tag} ${own.toSorted(byCode).join(' | ')}>`;
    },
  );
  const pieces = tags
    .split(/(?=<)|(?<=>)/)
    .map((piece) => piece.replace(/[ \t\r\n]+/g, ' ').trim());
  return [`if ${condition}`, ...pieces.filter((piece) => piece !== '').map((piece) => ` ${piece}`)];
}

function linesOf(node: Node): string[] {
  if (node.nodeName === '#text' && 'value' in node) {
    if (node.parentNode?.nodeName === 'style') return rulesOf(node.value);
    const text = node.value.replace(/[ \t\r\n\f]+/g, ' ').trim();
    return text === '' ? [] : [`"${text}"`];
  }
  if (node.nodeName === '#comment' && 'data' in node) {
    const [, condition, inner] =
      /^\[if ([^\]]+)\]>([\s\S]*)<!\[endif\]$/.exec(node.data.trim()) ?? [];
    return condition === undefined ? [] : conditionalOf(condition, inner ?? '');
  }
  const children = ('childNodes' in node ? node.childNodes : []).flatMap(linesOf);
  if (!('tagName' in node)) return children;
  const attributes = node.attrs.map(({ name, value }) => attributeOf(name, value)).filter(isShown);
  return [
    `<${node.tagName}> ${attributes.toSorted(byCode).join(' | ')}`.trim(),
    ...children.map((line) => ` ${line}`),
  ];
}

/** Returns the tree of HTML as lines. */
export function renderingTree(html: string): string[] {
  // Outlook reads two conditional comments in a row as one.
  const joined = html.replace(/<!\[endif\]-->\s*<!--\[if mso \| IE\]>/g, '');
  return linesOf(parse(joined)).filter((line) => line.trim() !== 'if mso | IE');
}

/**
 * Takes the differences between mrml and mjml 5 away that show in no mail program, or in one only:
 * - mjml repeats `word-spacing` of the body on its first element, mrml does not;
 * - mrml repeats `vertical-align` of a button as an attribute, which HTML does not have;
 * - mjml writes `border:0` on the icons of mj-social, which both have in their style sheet for
 *   `img`;
 * - of several classes, mjml gives each the ending `-outlook`, mrml the last;
 * - in Outlook, the table within a padded mj-hero is as wide as the hero in mrml, narrower in mjml;
 * - the style sheet of mj-accordion selects the same inputs by different words;
 * - juice drops `!important` of the CSS that it inlines, css-inline keeps it;
 * - mrml computes widths of columns to 7 digits, mjml to 16;
 * - the ids of the hamburger of mj-navbar are random in mjml.
 */
export function withoutKnownDifferences(tree: readonly string[]): string[] {
  return tree
    .filter((line) => !/accordion-checkbox.*\{/.test(line))
    .map((line) =>
      line
        .replace(/(<div> .*)( \| style=|;)word-spacing:normal/, '$1')
        .replace(/^( *<td> align=\w+ \|.*) \| vertical-align=\w+$/, '$1')
        .replace(/^( *<td> .*) \| vertical-align=\w+$/, '$1')
        .replace(/(<img> .*style=.*?)border:0;(display:block)/, '$1$2')
        .replace(/-outlook(?=[ "|>]|$)/g, '')
        .replace(/(style=.*?) !important/g, '$1')
        .replace(/(\d+[.-]\d{3})\d+/g, '$1')
        .replace(/ (id|for)=(?:[0-9a-f]{16}|[0-9a-f]{8})\b/, ' $1=random')
        .replace(
          /(<table border=0 \| cellpadding=0 \| cellspacing=0) \| style=width:\d+px \| width=\d+>/,
          '$1>',
        ),
    );
}
