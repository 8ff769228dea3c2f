// The mail of a campaign in the editor: as a run would send it now, with the values of a chosen
// person.
import { campaignRoutes } from '../../../../src/campaigns/setup/routes.ts';
import type { Campaign } from '../../../../src/campaigns/setup/schema.ts';
import { contactGroupRoutes } from '../../../../src/people/contacts/groups/routes.ts';
import { contactRoutes } from '../../../../src/people/contacts/routes.ts';
import type { Contact } from '../../../../src/people/contacts/schema.ts';
import { refusalOf, withQuery } from '../../api.ts';
import { html, type Part, together } from '../../html.ts';
import { framedHtml } from '../../mail-picture.ts';
import type { Asked, Page } from '../../page.ts';
import { inWords } from '../../parts/facts.ts';
import { lookChoice, lookOf, mailIn } from '../messages/preview.ts';
import { contactsBy, nameOf } from '../people/names.ts';

const mostPeople = 8;

/**
 * Requests the mail, with the values of a contact if the query names a contact. @throws
 * ServiceError
 */
function mailOf({ ask, params, query }: Asked) {
  const body = { contactId: query['contact'] || undefined };
  return ask(campaignRoutes.render, { params, body });
}

type Mail = Awaited<ReturnType<typeof mailOf>>;

/** Returns some people of the audience, for the choice of the preview. */
async function peopleOf({ ask, may }: Asked, { audience }: Campaign): Promise<readonly Contact[]> {
  if (!may('contacts:read')) return [];
  const [id] = audience.groupIds;
  const [tag] = audience.includeTags;
  const query = { limit: mostPeople };
  const { items } = id
    ? await ask(contactGroupRoutes.members, { params: { id }, query })
    : await ask(contactRoutes.list, { query: { ...query, ...(tag !== undefined && { tag }) } });
  return items;
}

async function choosePerson(asked: Asked, campaign: Campaign): Promise<Part> {
  const { query } = asked;
  const chosen = query['contact'];
  const found = await peopleOf(asked, campaign);
  if (found.length === 0) return null;
  const more =
    chosen && !found.some(({ id }) => id === chosen)
      ? await contactsBy(asked, [chosen])
      : new Map<string, Contact>();
  const options = [...more.values(), ...found].map(
    (contact) =>
      html`<option value=${contact.id} selected=${contact.id === chosen}>As ${nameOf(contact)} gets it</option>`,
  );
  return html`<select name="contact" form=${previewForm} aria-label="Shown as this person gets it"><option value="">Without the values of a person</option>${options}</select>
    <button class="btn" form=${previewForm}>Show</button>`;
}

const previewForm = 'preview';

/** Draws the form of the choice of a person. It stands outside of the form that saves. */
export function previewChoice({ path, query }: Asked): Part {
  return html`<form method="get" id=${previewForm} action=${`/console${path}#content`}>
    ${['look', 'at'].map((name) => query[name] && html`<input type="hidden" name=${name} value=${query[name]} />`)}</form>`;
}

/** Draws the head of a mail, the mail in the chosen look, and the attached files. */
function picture(asked: Asked, mail: Mail): Part {
  const { params, query } = asked;
  const { from, replyTo, subject, preheader, html: source, text, notes, attachments } = mail;
  const author = from.name === null ? from.email : `${from.name} <${from.email}>`;
  const contact = query['contact'] ?? '';
  const framePath =
    source === null ? null : withQuery(`/console/campaigns/${params['id']}/html`, { contact });
  return together(
    html`<div><p><b>${author}</b></p><p><b>${subject}</b></p>${preheader !== null && html`<p class="soft">${preheader}</p>`}
      ${replyTo.length > 0 && html`<p class="soft">Answers go to ${inWords(replyTo)}</p>`}</div>`,
    notes.length > 0 &&
      html`<ul>${notes.map((note) => html`<li class="problem">${note}</li>`)}</ul>`,
    mailIn(lookOf(asked), { html: source, text, framePath, title: 'The mail of the campaign' }),
    attachments.length > 0 &&
      html`<ul aria-label="Files">${attachments.map(
        ({ filename, contentType, size }) =>
          html`<li>${filename} <small>${contentType ?? 'type by its name'}, ${size.toLocaleString('en')} bytes</small></li>`,
      )}</ul>`,
  );
}

/** Draws the mail of a saved campaign, or the reason why it cannot be drawn. */
export async function campaignMail(asked: Asked, campaign: Campaign): Promise<Part> {
  const [mail, person] = await Promise.all([
    mailOf(asked).then(
      (found) => picture(asked, found),
      (error: unknown) => html`<p class="soft">It has no mail yet: ${refusalOf(error).message}</p>`,
    ),
    choosePerson(asked, campaign),
  ]);
  return html`<div class="picks">${person}${lookChoice(asked, 'content')}</div>${mail}`;
}

export const mailPage: Page = {
  path: '/campaigns/:id/html',
  needs: 'campaigns:read',
  show: async (asked) => framedHtml(await mailOf(asked)),
};
