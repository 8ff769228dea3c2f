// Forms after a refusal: the posted form, or the filters of a list, with typed values and faults.
import type { Refusal } from '../api.ts';
import { html, type Part, together, withProps } from '../html.ts';
import type { Asked, Form, View } from '../page.ts';

type Element = Extract<Part, { props: unknown }>;

const isElement = (part: Part): part is Element =>
  typeof part === 'object' && part !== null && 'props' in part;
const childrenOf = ({ props }: Element): readonly Part[] => [props['children']].flat(9) as Part[];

/** Returns a part with changed elements; after a null of `change`, elements within are changed. */
function mapped(part: Part, change: (element: Element) => Part): Part {
  if (Array.isArray(part)) return part.map((one) => mapped(one, change));
  if (!isElement(part)) return part;
  const done = change(part);
  if (done !== null) return done;
  const children = part.props['children'];
  if (typeof children === 'function' || children === undefined) return part;
  return withProps(part, { children: mapped(children as Part, change) });
}

function has(part: Part, isSought: (element: Element) => boolean): boolean {
  if (Array.isArray(part)) return part.some((one) => has(one, isSought));
  return isElement(part) && (isSought(part) || childrenOf(part).some((one) => has(one, isSought)));
}

/** A refused form. */
interface Refused {
  /** Null for the filters of a list. */
  action: string | null;
  given: Form;
  faults: Refusal['fields'];
  /** Whether the hidden fields are the same too. */
  isExact: boolean;
}

function isThat(form: Element, { action, given, isExact }: Refused): boolean {
  if (form.type !== 'form') return false;
  if (action === null) return form.props['method'] === 'get';
  const isOther = has(form, ({ type, props }) => {
    const { name = '', value } = props as { name?: string; value?: unknown };
    const isHidden = type === 'input' && props['type'] === 'hidden' && !name.startsWith('_');
    return isHidden && given[name] !== undefined && given[name] !== String(value);
  });
  const isAction = ({ props }: Element) => props['name'] === '_action' && props['value'] === action;
  return !(isExact && isOther) && has(form, isAction);
}

/** Returns the fault of a field, by any part of a path of the API. */
function faultIn(faults: Refused['faults'], name: string): string | undefined {
  return Object.entries(faults).find(([path]) => path.split('.').includes(name))?.[1][0];
}

/** Returns a select with the typed value chosen. */
function chosen(select: Element, value: string): Element {
  const options = mapped(select.props['children'] as Part, (one) =>
    one.type === 'option' ? withProps(one, { selected: one.props['value'] === value }) : null,
  );
  return withProps(select, { children: options });
}

/** Returns a field with the typed value. */
function typedIn(field: Element, value: string | undefined): Element {
  const { type, value: own } = field.props;
  if (type === 'checkbox' || type === 'radio') return withProps(field, { checked: value === own });
  if (value === undefined || type === 'file' || type === 'password') return field;
  if (field.type === 'select') return chosen(field, value);
  if (field.type === 'input') return withProps(field, { value });
  // HTML drops the first line break of a text area.
  return withProps(field, { children: value.startsWith('\n') ? `\n${value}` : value });
}

function fieldOf(field: Element, { given, faults }: Refused): Part {
  const name = String(field.props['name'] ?? '');
  const isField = ['input', 'select', 'textarea'].includes(String(field.type));
  if (!isField || name === '' || field.props['type'] === 'hidden') return null;
  const typed = typedIn(field, given[name]);
  const fault = faultIn(faults, name);
  if (fault === undefined) return typed;
  const id = `fault-${name}`;
  const marks = { 'aria-invalid': 'true', 'aria-describedby': id };
  return together(withProps(typed, marks), html`<small class="wrong" id=${id}>${fault}</small>`);
}

/** Returns a page with the typed values in the refused form. `form` is null for filters. */
export function asTyped(view: View, refusal: Refusal, form: Form | null, { query }: Asked): View {
  const action = form ? (form['_action'] ?? '') : null;
  const { body, actions, below } = view;
  const exact = { action, given: form ?? query, faults: refusal.fields, isExact: true };
  const isFound = has([body, actions, below], (one) => isThat(one, exact));
  const refused: Refused = { ...exact, isExact: isFound };
  const typed = (part: Part): Part =>
    mapped(part, (element) => {
      const children = element.props['children'] as Part;
      if (isThat(element, refused)) {
        return withProps(element, { children: mapped(children, (one) => fieldOf(one, refused)) });
      }
      // A refused form stands open, also without a script.
      const isFolded = 'popover' in element.props && has(children, (one) => isThat(one, refused));
      if (!isFolded) return null;
      const open = { popover: undefined, class: 'again', children: typed(children) };
      return withProps(element, open);
    });
  return { ...view, body: typed(body), actions: typed(actions), below: typed(below) };
}
