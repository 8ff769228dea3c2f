// Tables of the exports of mail services, for imports of contacts and blocks. `serviceColumns` has
// the columns with the same meaning in every file. `serviceFiles` has the file formats: the columns
// that identify a file, the meanings only in this file, and the meaning of a row as a block. A
// failure caused by the address blocks the address, but a failure caused by a message does not.

import { columnKey } from '../../platform/csv/read-table.ts';
import { idPattern } from '../../platform/runtime/ids.ts';
import type { BlockReason } from '../blocks/schema.ts';
import { languageColumns, reasonWords } from './words.ts';

/** Fields of a contact that a column can fill. */
export const contactFields = [
  ...['email', 'otherEmails', 'externalId', 'name', 'displayName', 'avatar', 'firstName'],
  ...['lastName', 'company', 'jobTitle', 'country', 'state', 'city', 'timezone', 'source'],
  ...['language', 'tags', 'customFields', 'metadata'],
] as const;

/** Uses of columns that state consent; consent.ts has the rule of each. */
export const consents = [
  ...(['status', 'unsubscribed', 'subscribed', 'bounced', 'complained', 'blocked'] as const),
  ...(['unsubscribedAt', 'bouncedAt', 'complainedAt', 'blockedAt'] as const),
] as const;

export type Consent = (typeof consents)[number];

/** Uses of columns. `custom` keeps the values in a custom field with the name of the column. */
export const columnUses = [...contactFields, ...consents, 'custom', 'ignore'] as const;

export type ColumnUse = (typeof columnUses)[number];

/** Keys of columns (`columnKey`), separated by spaces, by the use of the columns. */
export type Columns = Readonly<Partial<Record<ColumnUse, string>>>;

/** Columns with the same meaning in every file, by language or service. */
export const serviceColumns: Readonly<Record<string, Columns>> = {
  ...languageColumns,
  any: {
    email: 'emailaddress',
    otherEmails: 'alternateemails',
    name: 'fullname',
    country: 'cc',
    state: 'region stateprovinceregion',
    metadata: 'attributes',
    status:
      'status emailstatus subscriptionstatus subscriberstatus memberstatus ' +
      'emailsubscriptionstatus emailmarketingstatus emailpermissionstatus',
    unsubscribed:
      'unsubscribed isunsubscribed unsubscribe globalunsubscribe emailunsubscribed optout ' +
      'optedout isoptedout emailoptout emailoptedout optoutemail donotemail donotcontact ' +
      'donotsendemail donotbulkemail noemail emaildisabled',
    subscribed: 'subscribed issubscribed optin optedin emailoptin emailoptedin',
    bounced:
      'bounced hardbounced hashardbounced emailbounced emailinvalid invalidemail ' +
      'invalidemailaddress',
    complained: 'complained spamcomplaint markedasspam',
    blocked: 'suppressed issuppressed emailsuppressed blacklist blocklist',
    unsubscribedAt:
      'unsubscribedat unsubscribeddate unsubscribedate unsubscribedon unsubscribereason ' +
      'unsubscribedreason optoutreason optoutdate optouttime optoutat optedoutat optedoutdate',
    bouncedAt: 'bouncedat bounceddate hardbouncedat bouncereason bouncedreason',
    complainedAt: 'complainedat complainttime spamreportedat',
    blockedAt: 'suppressedat',
  },
  brevo: { unsubscribed: 'emailblacklisted blacklisted emailblocklisted blocklisted' },
  ghost: { subscribed: 'subscribedtoemails' },
  google: { email: 'email1value' },
  hubspot: {
    unsubscribed: 'unsubscribedfromallemail unsubscribedfromallemails portalunsubscribe',
    complained: 'portalspamreport',
    bouncedAt: 'emailhardbouncereason hardbouncereason portalbounce globalbounce',
  },
  intercom: { unsubscribed: 'unsubscribedfromemails', complained: 'markedemailasspam' },
  klaviyo: {
    status: 'emailsuppressions',
    subscribed: 'emailmarketingconsent',
    blockedAt: 'emailsuppressionstimestamp',
  },
  mailchimp: { unsubscribedAt: 'unsubtime unsubreason', bouncedAt: 'cleantime' },
  mailjet: { unsubscribed: 'isexcludedfromcampaigns' },
  pipedrive: { status: 'marketingstatus' },
  postmark: { status: 'suppressionreason' },
  salesforce: {
    unsubscribed: 'hasoptedoutofemail optedoutofemail',
    bouncedAt: 'emailbouncedreason emailbounceddate',
  },
  ses: { unsubscribed: 'unsubscribeall' },
  shopify: { subscribed: 'acceptsmarketing acceptsemailmarketing' },
};

/** Keys of columns in lists of blocked addresses. The first key with a usable value counts. */
export const blockColumns = {
  address: ['email', 'address', 'emailaddress'],
  madeAt: ['createdat', 'created', 'bouncedat', 'lastupdatetime'],
} as const;

/**
 * Meaning of a row: a block (without a group: of all mail), no block (`skip`), or a fault
 * (`reject`).
 */
export type Verdict =
  | { reason: BlockReason; unsubscribeGroupId?: string }
  | { skip: string }
  | { reject: string };

/** Returns the trimmed text under a column of a row, or '' if the column is missing. */
export type Field = (column: string) => string;

/** Rules to read the rows of a file format as blocks. */
export interface BlockFormat {
  /** The value of `--format`. */
  name: string;
  title: string;
  /** Whether a file may lack a header: the columns are then address and reason. */
  mayBeBare?: true;
  judge(field: Field, fallback: BlockReason): Verdict;
}

/** Rules to read the rows of a file format as people. */
export interface ContactFormat {
  /** Uses of columns in this file. They override `serviceColumns`. */
  columns?: Columns;
  /** Field with the mailing lists of a person and the subscription status in each. */
  lists?: string;
}

export interface ServiceFile {
  service: string;
  /** The columns that identify the file; all must be present. */
  has: readonly string[];
  blocks?: BlockFormat;
  contacts?: ContactFormat;
  /** Set if nobody in the file may get mail. The import of contacts refuses such a file. */
  isSuppressionList?: true;
}

function byReason(word: string, fallback?: BlockReason): Verdict {
  const reason = word === '' ? fallback : reasonWords.get(columnKey(word));
  if (reason) return { reason };
  return { reject: word === '' ? 'has no reason' : `has an unknown reason: ${word.slice(0, 60)}` };
}

const always =
  (reason: BlockReason): BlockFormat['judge'] =>
  () => ({ reason });

/** Postmark types of bounces that justify a block. Many further types do not. */
const postmarkBounceTypes = new Map<string, BlockReason>([
  ['hardbounce', 'bounce'],
  ['bademailaddress', 'bounce'],
  ['spamcomplaint', 'complaint'],
  ['unsubscribe', 'unsubscribe'],
  ['manuallydeactivated', 'manual'],
]);

function judgePostmarkBounce(field: Field): Verdict {
  const type = field('Type');
  const reason = postmarkBounceTypes.get(columnKey(type));
  if (field('Inactive').toLowerCase() === 'false') return { skip: 'is active again at Postmark' };
  return reason ? { reason } : { skip: `${type.slice(0, 60)} does not justify a block` };
}

/**
 * Judges a Postmark suppression. A manual suppression with the origin "Recipient" is a click on
 * Postmark's unsubscribe link.
 */
function judgePostmarkSuppression(field: Field): Verdict {
  const word = field('SuppressionReason');
  if (columnKey(word) !== 'manualsuppression') return byReason(word);
  return { reason: columnKey(field('Origin')) === 'recipient' ? 'unsubscribe' : 'manual' };
}

/**
 * Judges a SendGrid bounce or block: both exports have the same columns. A "block" at SendGrid was
 * temporary (4.x.x) or about policy (5.7.x): SendGrid keeps sending to the address, and so does
 * this service.
 */
function judgeSendgridBounce(field: Field): Verdict {
  const status = field('status');
  return /^(?:4\.|5\.7\.)/.test(status)
    ? { skip: `${status.slice(0, 20)} is not caused by the address` }
    : { reason: 'bounce' };
}

function judgeMailgunUnsubscribe(field: Field): Verdict {
  const tags = field('tags').replace(/^\[|\]$|["']/g, '');
  return tags === '' || tags === '*'
    ? { reason: 'unsubscribe' }
    : { skip: `gets all mail except mail with the tag ${tags.slice(0, 60)}` };
}

function judgeListmonkBounce(field: Field): Verdict {
  const type = field('type');
  if (type === 'soft') return { skip: 'is not caused by the address' };
  return byReason(type === 'hard' ? 'bounce' : type);
}

function judgeResendContact(field: Field): Verdict {
  const hasLeft = field('unsubscribed').toLowerCase() === 'true';
  return hasLeft ? { reason: 'unsubscribe' } : { skip: 'has not unsubscribed' };
}

const groupIds = idPattern('unsubscribeGroup');

/**
 * Judges a row of an export of this service. Accepts deleted groups, because their blocks stay in
 * force.
 */
function judgeOwn(field: Field): Verdict {
  const verdict = byReason(field('reason'));
  const unsubscribeGroupId = field('unsubscribeGroupId');
  if (unsubscribeGroupId === '' || !('reason' in verdict)) return verdict;
  return groupIds.test(unsubscribeGroupId)
    ? { ...verdict, unsubscribeGroupId }
    : { reject: `names an unknown unsubscribe group: ${unsubscribeGroupId.slice(0, 60)}` };
}

/** File format of a list of people or addresses that fits no known service. */
export const plainFile = {
  service: 'plain',
  has: [],
  contacts: {},
  blocks: {
    name: 'plain',
    title: 'List of addresses',
    mayBeBare: true,
    judge: (field, fallback) => byReason(field('reason'), fallback),
  },
} as const satisfies ServiceFile;

const sendgrid = (
  name: string,
  title: string,
  has: readonly string[],
  judge: BlockFormat['judge'],
): ServiceFile => ({
  service: 'sendgrid',
  has,
  blocks: { name: `sendgrid-${name}`, title: `SendGrid ${title}`, judge },
  ...(!has.includes('status') && { isSuppressionList: true }),
});

/** Known file formats. The first match wins, so formats with more columns stand first. */
export const serviceFiles: readonly ServiceFile[] = [
  {
    service: 'svc',
    has: ['address', 'reason', 'unsubscribeGroupId'],
    blocks: { name: 'svc', title: 'Export of svc', judge: judgeOwn },
  },
  {
    service: 'svc',
    has: ['id', 'email', 'externalId', 'statusReason'],
    contacts: { columns: { ignore: 'id createdat updatedat' } },
  },
  { service: 'svc', has: ['id', 'identities'], contacts: {} },
  sendgrid(
    'bounces',
    'bounces or blocks',
    ['email', 'status', 'reason', 'created'],
    judgeSendgridBounce,
  ),
  sendgrid('invalid-emails', 'invalid emails', ['email', 'reason', 'created'], (field) => ({
    reason: reasonWords.get(columnKey(field('reason'))) ?? 'bounce',
  })),
  sendgrid('spam-reports', 'spam reports', ['email', 'ip', 'created'], always('complaint')),
  sendgrid('unsubscribes', 'unsubscribes', ['email', 'created'], always('unsubscribe')),
  {
    service: 'postmark',
    has: ['EmailAddress', 'SuppressionReason'],
    blocks: {
      name: 'postmark-suppressions',
      title: 'Postmark suppressions',
      judge: judgePostmarkSuppression,
    },
  },
  {
    service: 'postmark',
    has: ['Email', 'Type', 'BouncedAt'],
    blocks: { name: 'postmark-bounces', title: 'Postmark bounces', judge: judgePostmarkBounce },
  },
  {
    service: 'mailgun',
    has: ['address', 'code', 'error'],
    blocks: { name: 'mailgun-bounces', title: 'Mailgun bounces', judge: always('bounce') },
  },
  {
    service: 'mailgun',
    has: ['address', 'tags'],
    blocks: {
      name: 'mailgun-unsubscribes',
      title: 'Mailgun unsubscribes',
      judge: judgeMailgunUnsubscribe,
    },
  },
  {
    service: 'ses',
    has: ['EmailAddress', 'Reason'],
    contacts: { columns: { status: 'reason', ignore: 'lastupdatetime' } },
    blocks: {
      name: 'ses',
      title: 'Amazon SES suppression list',
      mayBeBare: true,
      judge: (field) => byReason(field('Reason')),
    },
  },
  {
    service: 'resend',
    has: ['email', 'origin', 'source_id'],
    contacts: { columns: { status: 'origin', ignore: 'id sourceid createdat' } },
  },
  {
    service: 'resend',
    has: ['email', 'origin'],
    blocks: {
      name: 'resend-suppressions',
      title: 'Resend suppressions',
      judge: (field) => byReason(field('origin')),
    },
  },
  {
    service: 'mailchimp',
    has: ['Email Address', 'LEID', 'EUID'],
    contacts: {
      columns: {
        ignore:
          'memberrating optintime optinip confirmtime confirmip latitude longitude gmtoff ' +
          'dstoff lastchanged leid euid unsubcampaign unsubcampaigntitle unsubcampaignid ' +
          'cleancampaign cleancampaigntitle cleancampaignid',
      },
    },
  },
  {
    service: 'sendgrid',
    has: ['EMAIL', 'ALTERNATE_EMAILS', 'CONTACT_ID'],
    contacts: { columns: { ignore: 'contactid createdat updatedat' } },
  },
  {
    service: 'listmonk',
    has: ['uuid', 'email', 'attributes', 'status'],
    contacts: { columns: { customFields: 'attributes', ignore: 'uuid createdat updatedat' } },
  },
  {
    // The answer of the listmonk API, a subscriber in each line.
    service: 'listmonk',
    has: ['uuid', 'email', 'attribs', 'lists', 'status'],
    contacts: {
      columns: { customFields: 'attribs', tags: 'lists', ignore: 'id uuid createdat updatedat' },
      lists: 'lists',
    },
  },
  {
    service: 'mailgun',
    has: ['address', 'subscribed', 'vars'],
    contacts: { columns: { email: 'address', customFields: 'vars' } },
  },
  {
    service: 'resend',
    has: ['email', 'unsubscribed'],
    contacts: { columns: { ignore: 'id createdat' } },
    blocks: { name: 'resend-contacts', title: 'Resend contacts', judge: judgeResendContact },
  },
  {
    service: 'postal',
    has: ['type', 'address', 'keep_until'],
    blocks: {
      name: 'postal-suppressions',
      title: 'Postal suppressions',
      // Postal suppresses a recipient after hard or repeated failures.
      judge: (field) =>
        field('type') === 'recipient' ? { reason: 'bounce' } : { skip: 'is no recipient' },
    },
  },
  {
    service: 'listmonk',
    has: ['email', 'type', 'source', 'subscriber_uuid'],
    blocks: { name: 'listmonk-bounces', title: 'listmonk bounces', judge: judgeListmonkBounce },
  },
  {
    service: 'mailgun',
    has: ['address', 'created_at'],
    blocks: {
      name: 'mailgun-complaints',
      title: 'Mailgun complaints',
      // A list that a user wrote may have the same columns; then the reason in the row counts.
      judge: (field) => byReason(field('reason'), 'complaint'),
    },
  },
  plainFile,
];
