// The tags and attributes of MJML that mrml renders like mjml 5. The list omits a tag or an
// attribute that mrml drops or renders differently, so that it is refused and not lost.
// test/content/rendering/mjml-words.test.ts compares both libraries attribute by attribute.

const padding = 'padding padding-top padding-right padding-bottom padding-left';
const border = 'border border-top border-right border-bottom border-left border-radius';
const font = 'font-family font-size font-style font-weight';
const background =
  'background-color background-url background-repeat background-size background-position ' +
  'background-position-x background-position-y';
const section = `${background} ${border} ${padding} direction full-width text-align text-padding`;
const accordion =
  'border font-family icon-align icon-width icon-height icon-wrapped-url icon-wrapped-alt ' +
  'icon-unwrapped-url icon-unwrapped-alt icon-position';
const content =
  'mj-accordion mj-button mj-divider mj-image mj-raw mj-social mj-spacer mj-table mj-text mj-navbar';

interface TagWords {
  attributes: readonly string[];
  /** Tags that may be children of the tag. */
  children: readonly string[];
  /** Kind of the content; null if the tag holds only tags of MJML, or nothing. */
  content: 'html' | 'css' | 'text' | null;
}

const tags = new Map<string, TagWords>();

function declare(
  tag: string,
  attributes: string,
  { children = '', content = null as TagWords['content'] } = {},
): void {
  const listOf = (text: string) => text.split(' ').filter((one) => one !== '');
  tags.set(tag, { attributes: listOf(attributes), children: listOf(children), content });
}

declare('mjml', 'lang dir owa', { children: 'mj-head mj-body' });
declare('mj-head', '', {
  children: 'mj-attributes mj-breakpoint mj-font mj-preview mj-style mj-title mj-raw',
});
declare('mj-attributes', '');
declare('mj-breakpoint', 'width');
declare('mj-font', 'name href');
declare('mj-preview', '', { content: 'text' });
declare('mj-style', 'inline', { content: 'css' });
declare('mj-title', '', { content: 'text' });
declare('mj-body', 'width background-color css-class', {
  children: 'mj-raw mj-section mj-wrapper mj-hero',
});
declare('mj-wrapper', section, { children: 'mj-hero mj-raw mj-section' });
declare('mj-section', section, { children: 'mj-column mj-group mj-raw' });
declare(
  'mj-hero',
  `${padding} mode height background-url background-width background-height background-position ` +
    'inner-background-color background-color vertical-align',
  { children: content },
);
declare('mj-group', 'background-color direction vertical-align width', {
  children: 'mj-column mj-raw',
});
declare(
  'mj-column',
  `${border} ${padding} background-color direction inner-background-color vertical-align width`,
  { children: content },
);
declare('mj-raw', '', { content: 'html' });
declare(
  'mj-text',
  `${font} ${padding} align background-color color container-background-color height letter-spacing ` +
    'line-height text-decoration text-transform vertical-align',
  { content: 'html' },
);
declare(
  'mj-button',
  `${border} ${font} ${padding} align background-color color container-background-color height href name ` +
    'inner-padding letter-spacing line-height rel target text-decoration text-transform ' +
    'vertical-align text-align width',
  { content: 'html' },
);
declare(
  'mj-table',
  `${padding} align cellpadding container-background-color color font-family font-size font-weight ` +
    'line-height table-layout vertical-align width',
  { content: 'html' },
);
declare(
  'mj-image',
  `${padding} alt href name src srcset title rel align border border-radius container-background-color ` +
    'fluid-on-mobile target width height max-height font-size usemap',
);
declare(
  'mj-divider',
  `${padding} border-color border-style border-width container-background-color width align`,
);
declare(
  'mj-spacer',
  `${padding} border border-top border-right border-bottom border-left container-background-color height`,
);
declare(
  'mj-social',
  `${font} ${padding} align border-radius container-background-color color icon-size icon-height ` +
    'icon-padding inner-padding line-height mode table-layout text-padding text-decoration vertical-align',
  { children: 'mj-social-element' },
);
declare(
  'mj-social-element',
  `${font} ${padding} align background-color color border-radius href icon-size icon-height icon-padding ` +
    'line-height name text-padding rel src alt title target text-decoration vertical-align',
  { content: 'html' },
);
declare(
  'mj-navbar',
  `${padding} align base-url hamburger ico-align ico-open ico-close ico-color ico-font-size ` +
    'ico-font-family ico-text-transform ico-padding ico-padding-left ico-padding-top ico-padding-right ' +
    'ico-padding-bottom ico-text-decoration ico-line-height',
  { children: 'mj-navbar-link' },
);
declare(
  'mj-navbar-link',
  `${font} ${padding} color href name target rel letter-spacing line-height text-decoration text-transform`,
  { content: 'html' },
);
declare('mj-accordion', `${accordion} ${padding} container-background-color`, {
  children: 'mj-accordion-element',
});
declare('mj-accordion-element', `${accordion} background-color`, {
  children: 'mj-accordion-title mj-accordion-text',
});
declare('mj-accordion-title', `${padding} background-color color font-size font-family`, {
  content: 'html',
});
declare(
  'mj-accordion-text',
  `${padding} background-color font-size font-family font-weight letter-spacing line-height color`,
  { content: 'html' },
);
/** Tags that may be in `mj-body`; they take `css-class` and `mj-class`. */
export const bodyTags = [...tags.keys()].slice([...tags.keys()].indexOf('mj-wrapper'));
const everyAttribute = new Set([...tags.values()].flatMap(({ attributes }) => attributes));

/** Returns the attributes, children and content of a tag; undefined for an unknown tag. */
export function wordsOf(tag: string): TagWords | undefined {
  return tags.get(tag);
}

/** Values that mrml renders as mjml does, for attributes where other values differ. */
const goodValues: Readonly<Record<string, RegExp>> = {
  'mj-hero mode': /^fixed-height$/,
  'mj-style inline': /^inline$/,
  'mj-section full-width': /^(?:full-width|false|)$/,
  'mj-wrapper full-width': /^(?:full-width|false|)$/,
};
/** Tags for which mrml does not read a padding in percent. */
const pixelPadding = /^mj-(?:section|wrapper|column|hero|image|divider)$/;

/**
 * Attributes with texts or colours. All remaining attributes decide widths when the template is
 * published, so they cannot contain Liquid.
 */
const textual =
  /^(?:href|src|srcset|alt|title|name|rel|target|lang|base-url|css-class|font-family|.*(?:color|-url|-alt|-src|-icon)|ico-open|ico-close)$/;

/** Returns the problem with an attribute of a tag, or null. */
export function attributeProblem(
  tag: string,
  name: string,
  value: string,
  hasLiquid: boolean,
): string | null {
  if (!isKnown(tag, name)) return `<${tag}> has no attribute ${name.slice(0, 100)}`;
  if (
    hasLiquid &&
    (!textual.test(name) || tag === 'mj-class' || (tag === 'mj-social-element' && name === 'name'))
  ) {
    return `${name} of <${tag}> cannot have Liquid: it is read when the template is published`;
  }
  const good = goodValues[`${tag} ${name}`];
  if (good && !good.test(value)) return `<${tag}> cannot have ${name}="${value.slice(0, 100)}"`;
  if (value.includes('%') && name.startsWith('padding') && pixelPadding.test(tag)) {
    return `${name} of <${tag}> is in px`;
  }
  return null;
}

function isKnown(tag: string, name: string): boolean {
  if (tag === 'mj-all') return everyAttribute.has(name) || name === 'css-class';
  if (tag === 'mj-class')
    return everyAttribute.has(name) || name === 'css-class' || name === 'name';
  if (bodyTags.includes(tag) && (name === 'css-class' || name === 'mj-class')) return true;
  return tags.get(tag)?.attributes.includes(name) === true;
}
