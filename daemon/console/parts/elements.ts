// The elements of a drawn part: finds and changes forms and fields before the page is rendered.
import { type Part, withProps } from '../html.ts';
import type { Form } from '../page.ts';

export type Element = Extract<Part, { props: unknown }>;

const isElement = (part: Part): part is Element =>
  typeof part === 'object' && part !== null && 'props' in part;

export const propsOf = ({ props }: Element): Readonly<Record<string, unknown>> => props;

export function within(part: Part): readonly Part[] {
  if (Array.isArray(part)) return part;
  const children = isElement(part) ? propsOf(part)['children'] : [];
  return (Array.isArray(children) ? children : [children]) as Part[];
}

export function textOf(part: Part): string {
  if (typeof part === 'string' || typeof part === 'number') return String(part);
  return within(part).map(textOf).join('');
}

/** Returns the part itself if it is an element, and all elements within. `found` gathers them. */
export function elementsIn(part: Part, found: Element[] = []): Element[] {
  if (isElement(part)) found.push(part);
  for (const one of within(part)) elementsIn(one, found);
  return found;
}

/**
 * Returns a part in which `change` replaces elements. If `change` returns null, the element stays,
 * and the elements within it are changed.
 */
export function mapped(part: Part, change: (element: Element) => Part): Part {
  if (Array.isArray(part)) return part.map((one) => mapped(one, change));
  if (!isElement(part)) return part;
  const done = change(part);
  if (done !== null) return done;
  const { children } = propsOf(part);
  if (typeof children === 'function' || children === undefined) return part;
  return withProps(part, { children: mapped(children as Part, change) });
}

/** A posted form, or the filters of a list. */
export interface Posted {
  /** Null for the filters of a list. */
  action: string | null;
  given: Form;
  /** Whether a form fits only with the same hidden fields: several forms may post an action. */
  isExact: boolean;
}

/**
 * Tells whether a form posts this action, with equal hidden fields if `isExact`. For a null action,
 * tells whether it is a GET form.
 */
export function isFormOf(form: Element, { action, given, isExact }: Posted): boolean {
  if (form.type !== 'form') return false;
  if (action === null) return propsOf(form)['method'] === 'get';
  const named = elementsIn(form).map((one) => ({ type: one.type, ...propsOf(one) }) as Named);
  const isOther = named.some(({ type, name = '', value }) => {
    const isHidden = type === 'hidden' && !name.startsWith('_');
    return isHidden && given[name] !== undefined && given[name] !== String(value);
  });
  const isSent = named.some(({ name, value }) => name === '_action' && value === action);
  return isSent && !(isExact && isOther);
}

interface Named {
  type: unknown;
  name?: string;
  value?: unknown;
}
