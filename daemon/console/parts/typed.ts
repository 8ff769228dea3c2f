// Forms after a refusal: the posted form, or the filters of a list, with typed values and faults.
import type { Refusal } from '../api.ts';
import { html, type Part, together, withProps } from '../html.ts';
import type { Asked, Form, View } from '../page.ts';
import { type Element, elementsIn, isFormOf, mapped, type Posted } from './elements.ts';

interface Refused extends Posted {
  faults: Refusal['fields'];
}

/** Returns the first fault whose dotted path contains the name of a field. */
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
  const isIn = (part: Part, posted: Posted) =>
    elementsIn(part).some((one) => isFormOf(one, posted));
  const isFound = isIn([body, actions, below], exact);
  const refused: Refused = { ...exact, isExact: isFound };
  const typed = (part: Part): Part =>
    mapped(part, (element) => {
      const children = element.props['children'] as Part;
      if (isFormOf(element, refused)) {
        return withProps(element, { children: mapped(children, (one) => fieldOf(one, refused)) });
      }
      // A refused form stands open, also without a script.
      const isPopover = 'popover' in element.props;
      if (!(isPopover || element.type === 'details') || !isIn(children, refused)) return null;
      const open = isPopover ? { popover: undefined, class: 'again' } : { open: true };
      return withProps(element, { ...open, children: typed(children) });
    });
  return { ...view, body: typed(body), actions: typed(actions), below: typed(below) };
}
