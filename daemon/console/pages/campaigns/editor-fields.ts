// The fields of the editor of a campaign: receivers and mail.
import type { Campaign } from '../../../../src/campaigns/setup/schema.ts';
import { html, type Part, together } from '../../html.ts';
import type { Form } from '../../page.ts';
import { folded } from '../../parts/card.ts';
import { addressesIn, choice, field, jsonIn, type Option } from '../../parts/form.ts';
import { counted } from '../../parts/times.ts';

/** Value of the list for mail that everybody must get. */
const everybody = 'everybody';
const [groupPrefix, includePrefix, excludePrefix] = ['group.', 'with.', 'without.'];

/** Values that the fields offer for a choice. */
export interface Offers {
  groups: readonly { id: string; name: string; memberCount: number | null }[];
  tags: readonly { tag: string; contacts: number }[];
  lists: readonly { id: string; name: string }[];
  senders: readonly { email: string; name: string | null }[];
  templates: readonly { slug: string; name: string; version: number | null }[];
}

const chosenOf = (given: Form, prefix: string) =>
  Object.keys(given).flatMap((name) =>
    name.startsWith(prefix) ? [name.slice(prefix.length)] : [],
  );

function pick(name: string, label: string, given: Form, soft: Part = null): Part {
  return html`<label class="pick"><input type="checkbox" name=${name} value="1" checked=${given[name] === '1'} />${label}${soft !== null && html` <small>${soft}</small>`}</label>`;
}

function tagPicks(
  prefix: string,
  { tags }: Offers,
  given: Form,
  text: string,
  label: string,
): Part {
  const offered = [...new Set([...chosenOf(given, prefix), ...tags.map(({ tag }) => tag)])];
  const counts = new Map(tags.map(({ tag, contacts }) => [tag, contacts]));
  const picks = offered.map((tag) => {
    const count = counts.get(tag);
    return pick(prefix + tag, tag, given, count === undefined ? null : counted(count));
  });
  return html`<div class="picks">${picks}<input name=${text} aria-label=${label} placeholder="More tags" value=${given[text]} /></div>`;
}

/** Draws the fields of the first part: the receivers. */
export function toFields(given: Form, offers: Offers): Part {
  const groups = offers.groups.map(({ id, name, memberCount }) =>
    pick(groupPrefix + id, name, given, memberCount === null ? null : counted(memberCount)),
  );
  return together(
    html`<fieldset><legend>Groups</legend><div class="picks">${
      groups.length > 0 ? groups : html`<span class="soft">There is no group yet.</span>`
    }</div></fieldset>`,
    html`<fieldset><legend>People with one of these tags</legend>${tagPicks(includePrefix, offers, given, 'includeTags', 'More tags, divided by commas')}</fieldset>`,
    html`<fieldset><legend>But nobody with one of these tags</legend>${tagPicks(excludePrefix, offers, given, 'excludeTags', 'More tags to leave out, divided by commas')}</fieldset>`,
  );
}

const withChosen = (options: readonly Option[], value: string | undefined, word: string) =>
  value && !options.some((one) => (typeof one === 'string' ? one : one[0]) === value)
    ? [...options, [value, word] as const]
    : options;

/** Draws the fields of the second part: the mail. */
export function contentFields(given: Form, offers: Offers): Part {
  const { templates, lists, senders } = offers;
  const { templateSlug, unsubscribeGroupId, from, templateData = '' } = given;
  const line = (name: string, label: string, hint?: string) =>
    field({ name, label, value: given[name], ...(hint && { hint }) });
  const area = (name: string, label: string, rows: number, hint: string) =>
    field({ name, label, type: 'textarea', value: given[name], rows, hint });
  const tracked = (name: string, label: string) =>
    choice({
      name,
      label,
      value: given[name],
      options: [
        ['yes', 'count them'],
        ['no', 'do not count them'],
      ],
      empty: 'as for all mail',
    });
  return together(
    html`<div class="pair">${choice({
      name: 'unsubscribeGroupId',
      label: 'List that people can leave',
      value: unsubscribeGroupId,
      options: withChosen(
        [
          ...lists.map(({ id, name }) => [id, name] as const),
          [everybody, 'None: everybody must get it'] as const,
        ],
        unsubscribeGroupId,
        'another list',
      ),
      empty: 'choose one',
    })}${choice({
      name: 'from',
      label: 'From',
      value: from,
      options: withChosen(
        senders.map(({ email, name }) => [email, name ? `${name} <${email}>` : email] as const),
        from,
        from ?? '',
      ),
      empty: 'the default sender',
    })}</div>`,
    choice({
      name: 'templateSlug',
      label: 'Template',
      value: templateSlug,
      options: withChosen(
        templates.map(({ slug, name, version }) => [slug, `${name}, version ${version}`] as const),
        templateSlug,
        templateSlug ?? '',
      ),
      empty: 'none: own text',
    }),
    line('subject', 'Subject', 'A template has its own subject'),
    area(
      'text',
      'Text',
      9,
      'Empty with HTML: made from it. {{ contact.firstName }} is the first name of each person',
    ),
    folded('HTML', area('html', 'HTML of the mail', 8, 'Instead of plain text alone')),
    folded(
      'More',
      html`<div class="pair">
        ${line('name', 'Name', 'For your team only. Empty: the subject')}
        ${line('fromName', 'Name of the sender', 'Empty: that of the sender')}
        ${line('replyTo', 'Answers go to', 'Empty: the sender')}
        ${tracked('opens', 'Opens')}${tracked('clicks', 'Clicks')}
        ${field({ name: 'templateData', label: 'Values for the template', type: 'textarea', rows: 4, value: templateData, hint: 'JSON' })}
      </div>`,
      'name, reply address, counting, values of the template',
    ),
  );
}

const flagOf = (value: string | undefined) =>
  value === 'yes' ? true : value === 'no' ? false : null;

function trackingOf(given: Form) {
  const [opens, clicks] = [flagOf(given['opens']), flagOf(given['clicks'])];
  const tracking = { ...(opens !== null && { opens }), ...(clicks !== null && { clicks }) };
  return Object.keys(tracking).length > 0 ? tracking : undefined;
}

/** Returns the audience: groups and tags of the form, single contacts of the stored campaign. */
export function audienceOf(given: Form, before?: Campaign) {
  const tagsOf = (prefix: string, name: string) => [
    ...new Set([...chosenOf(given, prefix), ...addressesIn(given[name])]),
  ];
  return {
    ...before?.audience,
    includeTags: tagsOf(includePrefix, 'includeTags'),
    excludeTags: tagsOf(excludePrefix, 'excludeTags'),
    groupIds: chosenOf(given, groupPrefix),
  };
}

/**
 * Returns the id of the unsubscribe group in the form; undefined for mail that everybody must get.
 */
export function listOf({ unsubscribeGroupId }: Form): string | undefined {
  const list = unsubscribeGroupId?.trim();
  return list === everybody ? undefined : list || undefined;
}

/**
 * Returns the body of a request for a campaign. Keeps line breaks of the content as typed, and
 * parts of the campaign beyond the form, such as attachments.
 * @throws Refusal for values of the template that are not JSON
 */
export function bodyOf(given: Form, before?: Campaign): object {
  const text = (name: string) => given[name]?.trim() || undefined;
  const [from, fromName] = [text('from'), text('fromName')];
  const replyTo = addressesIn(given['replyTo']);
  return {
    name: text('name') ?? text('subject')?.slice(0, 200) ?? text('templateSlug') ?? 'Campaign',
    email: {
      ...before?.email,
      subject: text('subject'),
      html: given['html'] || undefined,
      text: given['text'] || undefined,
      templateSlug: text('templateSlug'),
      templateData: jsonIn(given['templateData'], 'The values for the template') ?? undefined,
      replyTo: replyTo.length > 0 ? replyTo : undefined,
      tracking: trackingOf(given),
      unsubscribeGroupId: listOf(given),
    },
    from: from ? { email: from, name: fromName } : null,
    audience: audienceOf(given, before),
    transactional: given['unsubscribeGroupId'] === everybody,
  };
}

const word = (flag: boolean | undefined) => (flag === undefined ? '' : flag ? 'yes' : 'no');

/** Returns a campaign in the form's fields. */
export function formOf({ name, email, from, audience, transactional }: Campaign): Form {
  const ticked = (prefix: string, values: readonly string[]) =>
    values.map((value) => [prefix + value, '1'] as const);
  return {
    name,
    from: from?.email ?? '',
    fromName: from?.name ?? '',
    subject: email.subject ?? '',
    html: email.html ?? '',
    text: email.text ?? '',
    templateSlug: email.templateSlug ?? '',
    templateData: email.templateData ? JSON.stringify(email.templateData, null, 2) : '',
    replyTo: email.replyTo?.join(', ') ?? '',
    opens: word(email.tracking?.opens),
    clicks: word(email.tracking?.clicks),
    unsubscribeGroupId: email.unsubscribeGroupId ?? (transactional ? everybody : ''),
    ...Object.fromEntries([
      ...ticked(groupPrefix, audience.groupIds),
      ...ticked(includePrefix, audience.includeTags),
      ...ticked(excludePrefix, audience.excludeTags),
    ]),
  };
}
