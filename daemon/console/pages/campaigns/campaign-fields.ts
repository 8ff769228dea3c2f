// A campaign in the form's fields.
import type { Campaign } from '../../../../src/campaigns/setup/schema.ts';
import { html, type Part } from '../../html.ts';
import type { Form } from '../../page.ts';
import { facts } from '../../parts/facts.ts';
import { addressesIn, check, field } from '../../parts/form.ts';

export function fieldsOf(given: Form): Part {
  const line = (name: string, label: string, hint = '') =>
    field({ name, label, value: given[name], hint });
  const area = (name: string, label: string, hint = '') =>
    field({ name, label, type: 'textarea', value: given[name], rows: 8, hint });
  return html`
    ${field({ name: 'name', label: 'Name', value: given['name'], isRequired: true })}
    ${line('from', 'From', 'Address of a verified sender. Empty: the default sender')}
    ${line('fromName', 'Name of the sender')}
    ${line('subject', 'Subject', 'Liquid is filled for each contact: {{ contact.firstName }}')}
    ${area('html', 'HTML')}
    ${area('text', 'Text', 'Empty: made from the HTML')}
    ${line('templateSlug', 'Template', 'Its slug, instead of subject, HTML and text')}
    ${line('includeTags', 'Contacts with one of these tags', 'Divided by commas')}
    ${line('excludeTags', 'But none of these tags')}
    ${line('groupIds', 'Members of these groups', 'grp_…, divided by commas')}
    ${line('unsubscribeGroupId', 'Group to unsubscribe from', 'usg_…')}
    ${check('transactional', 'mail that everybody must get, without a group to unsubscribe from', given['transactional'] === '1')}
  `;
}

/**
 * Returns the body of a request for a campaign. Keeps line breaks of the content as typed, and what
 * the campaign has beyond the form, such as tracking.
 */
export function bodyOf(given: Form, before?: Campaign): object {
  const text = (name: string) => given[name]?.trim() || undefined;
  const [from, fromName] = [text('from'), text('fromName')];
  return {
    name: text('name'),
    email: {
      ...before?.email,
      subject: text('subject'),
      html: given['html'] || undefined,
      text: given['text'] || undefined,
      templateSlug: text('templateSlug'),
      unsubscribeGroupId: text('unsubscribeGroupId'),
    },
    from: from ? { email: from, name: fromName } : null,
    audience: {
      ...before?.audience,
      includeTags: addressesIn(given['includeTags']),
      excludeTags: addressesIn(given['excludeTags']),
      groupIds: addressesIn(given['groupIds']),
    },
    transactional: given['transactional'] === '1',
  };
}

/** Returns a campaign in the form's fields. */
export function formOf({ name, email, from, audience, transactional }: Campaign): Form {
  return {
    name,
    from: from?.email ?? '',
    fromName: from?.name ?? '',
    subject: email.subject ?? '',
    html: email.html ?? '',
    text: email.text ?? '',
    templateSlug: email.templateSlug ?? '',
    unsubscribeGroupId: email.unsubscribeGroupId ?? '',
    includeTags: audience.includeTags.join(', '),
    excludeTags: audience.excludeTags.join(', '),
    groupIds: audience.groupIds.join(', '),
    transactional: transactional ? '1' : '',
  };
}

/** Draws the mail and the recipients of a run. */
export function campaignFacts(campaign: Campaign): Part {
  return facts(campaign, [
    ['Subject', 'email.subject'],
    ['Template', 'email.templateSlug'],
    ['From', 'from.email'],
    ['Name of the sender', 'from.name'],
    ['Tags', 'audience.includeTags'],
    ['Without tags', 'audience.excludeTags'],
    ['Groups', 'audience.groupIds'],
    ['Single contacts', 'audience.contactIds.length'],
    ['Group to unsubscribe from', 'email.unsubscribeGroupId'],
    ['For everybody', 'transactional'],
    ['Id', 'id'],
  ]);
}

/** Draws the warnings of the API about a campaign. */
export function warned(warnings: Campaign['warnings']): Part {
  if (warnings.length === 0) return null;
  return html`<section aria-label="Advice" class="mail"><ul>${warnings.map(({ message }) => html`<li>${message}</li>`)}</ul></section>`;
}
