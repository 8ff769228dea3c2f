// Builds the trees of pages: htm builds them, preact renders them and escapes every value. Control
// characters and marks of direction in a text are shown as signs. An element cannot have an event
// handler, and a link must be of a known kind. Only this file imports preact and htm.
import htm from 'htm';
import { type ComponentChild, createContext, Fragment, h, type VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { misleading, plainly } from '../../src/platform/runtime/signs.ts';

/** A part of a page, in the form that preact renders. */
export type Part = ComponentChild;

type Props = Record<string, unknown> | null;

const linkAttributes: ReadonlySet<string> = new Set(['href', 'src', 'action', 'formaction']);
const ownPaths = /^\/(?:console|storage|docs|v1)(?:[/?#]|$)|^#[\w-]+$/;

/** Returns a link in which misleading characters are percent-encoded. */
function encoded(target: string): string {
  return target.replace(misleading, (found) => encodeURIComponent(found));
}

/** Tells whether a page may have this link: own paths, or http, https and mailto. */
export function isKnownLink(target: string): boolean {
  if (ownPaths.test(target)) return true;
  if (target.startsWith('/') || !URL.canParse(target)) return false;
  return ['http:', 'https:', 'mailto:'].includes(new URL(target).protocol);
}

function guarded(props: Props): Props {
  if (props === null) return null;
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(props)) {
    if (/^on/i.test(name) || name === 'dangerouslySetInnerHTML' || name === 'srcdoc') {
      throw new TypeError(`a page has no attribute ${name}`);
    }
    if (!linkAttributes.has(name)) kept[name] = typeof value === 'string' ? plainly(value) : value;
    else if (typeof value === 'string' && isKnownLink(value)) kept[name] = encoded(value);
  }
  return kept;
}

function shown(child: unknown): unknown {
  if (typeof child === 'string') return plainly(child);
  return Array.isArray(child) ? child.map(shown) : child;
}

function element(type: string, props: Props, ...children: unknown[]): VNode {
  return h(type, guarded(props), ...(children.map(shown) as ComponentChild[]));
}

type Tag = (strings: TemplateStringsArray, ...values: unknown[]) => VNode;

const build: Tag = (htm as unknown as { bind(make: typeof element): Tag }).bind(element);
const spaced = new WeakMap<TemplateStringsArray, TemplateStringsArray>();

/** Replaces line breaks by spaces: htm drops them, and words at ends of lines would join. */
function withSpaces(strings: TemplateStringsArray): TemplateStringsArray {
  const known = spaced.get(strings);
  if (known) return known;
  const texts = strings.map((text) => {
    const lines = text.split('\n').map((line, at) => (at === 0 ? line : line.trimStart()));
    const last = lines.length - 1;
    return lines.map((line, at) => (at === last ? line : line.trimEnd())).join(' ');
  });
  const made = Object.assign(texts, { raw: strings.raw });
  spaced.set(strings, made);
  return made;
}

/** Builds a part of a page: `html\`<p>${text}</p>\``. A line break is a space, as in HTML. */
export const html: Tag = (strings, ...values) => build(withSpaces(strings), ...values);

/** Joins parts without an element around them. */
export function together(...parts: Part[]): VNode {
  return h(Fragment, null, ...parts);
}

/** Time of a page: the zone of the organization, and the time when it is drawn. */
export interface Clock {
  timezone: string;
  /** Time in ms since 1970. */
  now: number;
}

const clock = createContext<Clock>({ timezone: 'UTC', now: 0 });

/** Sets the time zone and the present time for a part of a page. */
export function inClock(value: Clock, part: Part): VNode {
  return h(clock.Provider, { value }, part);
}

/** Draws a part that depends on the time. */
export function withClock(draw: (now: Clock) => Part): VNode {
  return h(clock.Consumer, null, draw);
}

/** Returns a copy of an element with further attributes: all pages share the static original. */
export function withProps(node: VNode, props: Record<string, unknown>): VNode {
  return h(node.type, { ...node.props, ...guarded(props) });
}

export function renderDocument(tree: VNode): string {
  return `<!doctype html>\n${renderToString(tree)}`;
}
