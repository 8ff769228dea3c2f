// The profile of a contact as facts and as a form. A change replaces the whole profile, so the form
// includes every field.
import type { Contact } from '../../../../src/people/contacts/schema.ts';
import { html, type Part } from '../../html.ts';
import type { Form } from '../../page.ts';
import { facts } from '../../parts/facts.ts';
import { field } from '../../parts/form.ts';

const lines = [
  ['firstName', 'First name'],
  ['lastName', 'Last name'],
  ['company', 'Company'],
  ['jobTitle', 'Job'],
  ['source', 'Source'],
] as const;
const places = [
  ['country', 'Country'],
  ['state', 'State'],
  ['city', 'City'],
  ['timezone', 'Time zone of the place'],
] as const;
const customPrefix = 'custom.';

/** Draws the parts of a profile that are known. */
export function profileFacts({ profile }: Contact): Part {
  const known = [
    ...lines.map(([name, label]) => [label, profile[name]] as const),
    ...places.map(([name, label]) => [label, profile.location[name]] as const),
    ...Object.entries(profile.customFields),
  ].filter(([, value]) => value);
  if (known.length === 0) return null;
  return html`<h2>Profile</h2>${facts(
    known.map(([, value]) => value),
    known.map(([label], at) => [label, String(at)]),
  )}`;
}

/** Returns a profile in the form's fields. */
export function profileForm({ profile }: Contact): Form {
  return Object.fromEntries([
    ...lines.map(([name]) => [name, profile[name] ?? '']),
    ...places.map(([name]) => [name, profile.location[name] ?? '']),
    ...Object.entries(profile.customFields).map(([name, value]) => [customPrefix + name, value]),
  ]);
}

const customIn = (given: Form) =>
  Object.entries(given).flatMap(([name, value]) =>
    name.startsWith(customPrefix) ? [[name.slice(customPrefix.length), value] as const] : [],
  );

export function profileFields(given: Form): Part {
  return html`
    ${[...lines, ...places].map(([name, label]) => field({ name, label, value: given[name] }))}
    ${customIn(given).map(([name, value]) => {
      const type = value.includes('\n') ? 'textarea' : 'text';
      return field({ name: customPrefix + name, label: name, type, value, hint: 'Empty: removed' });
    })}
    ${field({ name: 'newField', label: 'One more field', value: given['newField'], hint: 'Its name' })}
    ${field({ name: 'newValue', label: 'Value of that field', value: given['newValue'] })}
  `;
}

/** Returns the profile that a form has. */
export function profileIn(given: Form): object {
  const valuesOf = (names: readonly (readonly [string, string])[]) =>
    Object.fromEntries(names.map(([name]) => [name, given[name]?.trim() || null]));
  const { newField = '', newValue = '' } = given;
  const custom = [...customIn(given), [newField.trim(), newValue] as const];
  const kept = custom.filter(([name, value]) => name !== '' && value !== '');
  return { ...valuesOf(lines), location: valuesOf(places), customFields: Object.fromEntries(kept) };
}
