// The search for people to add to a list.
import { contactRoutes } from '../../../../src/people/contacts/routes.ts';
import { html, type Part } from '../../html.ts';
import type { Asked } from '../../page.ts';
import { button } from '../../parts/form.ts';
import { icon } from '../../parts/icon.ts';
import { addressPart } from '../../parts/who.ts';
import { nameOf } from './names.ts';

const mostFound = 8;

/** Draws the search for people to add, and the found people, each with a button. */
export async function findPeople(asked: Asked, action: string, label: string): Promise<Part> {
  const { ask, query, path } = asked;
  const find = query['find']?.trim() ?? '';
  const found =
    find.length < 2
      ? null
      : await ask(contactRoutes.list, { query: { q: find, limit: mostFound } });
  const rows = found?.items.map((contact) => {
    const email = contact.identities[0]?.identifier ?? '';
    const name = nameOf(contact);
    const address = name === email ? null : html` <small>${addressPart(email)}</small>`;
    return html`<li>${icon('person')}<span><b>${name}</b>${address}</span>
      ${button(asked, { action, label: html`${label}<span class="sr"> ${name}</span>`, fields: { ids: contact.id } })}</li>`;
  });
  return html`<form method="get" class="search" role="search" aria-label="People to add" action=${`/console${path}`}><input type="search" name="find" value=${find} aria-label="Find people to add" placeholder="Find people to add by name or address" /><button class="btn">Find</button></form>
    ${rows && (rows.length > 0 ? html`<ul class="todo">${rows}</ul>` : html`<p class="soft">Nobody fits “${find}”.</p>`)}`;
}
