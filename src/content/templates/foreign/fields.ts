// Every field in exports of templates, by service. A field is kept in the draft, is only a record
// of the service (ids, dates, pictures of the editor), or is named in the report with advice. The
// report names unknown fields too, so that the import drops nothing silently.
export const foreignServices = [
  'resend',
  'postmark',
  'sendgrid',
  'mailgun',
  'ses',
  'listmonk',
] as const;

export type ForeignService = (typeof foreignServices)[number];

/**
 * `kept`: the draft has the field. `record`: mail never shows the field. Any further text is
 * advice.
 */
type Treatment = 'kept' | 'record' | (string & {});

const sender =
  'a template has no sender here: give "from" in the send, or make it the default of a sender';
const replies = 'give "email.replyTo" in the send, or set the reply address of the sender';
const sample =
  'sample values: keep them in a file for "svc templates render TEMPLATE --data @FILE"';

const fields: Readonly<Record<ForeignService, Readonly<Record<string, Treatment>>>> = {
  resend: {
    ...all('kept', 'name alias subject html text variables'),
    ...all('record', 'object id status created_at updated_at published_at'),
    ...all('record', 'current_version_id has_unpublished_versions'),
    from: sender,
    reply_to: replies,
  },
  postmark: {
    ...all('kept', 'Name Alias Subject HtmlBody TextBody'),
    ...all('record', 'TemplateId AssociatedServerId Active'),
    TemplateType: 'record',
    LayoutTemplate:
      'the layout is not applied: make it a partial, include it in the draft, then publish',
  },
  sendgrid: {
    ...all('kept', 'name versions.subject versions.html_content versions.plain_content'),
    ...all('record', 'id generation updated_at versions.id versions.template_id versions.active'),
    ...all('record', 'versions.updated_at versions.editor versions.thumbnail_url'),
    ...all('record', 'versions.name versions.user_id versions.generate_plain_content'),
    'versions.test_data': sample,
    'versions.warnings': 'warnings of SendGrid about this version: look whether they still hold',
  },
  mailgun: {
    ...all('kept', 'name version.template version.headers.Subject version.headers.subject'),
    ...all('record', 'id createdAt createdBy version.id version.tag version.createdAt'),
    ...all('record', 'version.engine version.active'),
    description: 'a draft has no description: keep it beside the template',
    'version.comment': 'a draft has no comment: keep it beside the template',
    'version.headers.From': sender,
    'version.headers.Reply-To': replies,
    'version.mjml': 'the compiled HTML is taken: push the MJML by "svc templates push" to edit it',
  },
  ses: {
    ...all('kept', 'TemplateName TemplateContent.Subject TemplateContent.Html'),
    ...all('kept', 'TemplateContent.Text Template.TemplateName Template.SubjectPart'),
    ...all('kept', 'Template.HtmlPart Template.TextPart'),
    ...all('record', 'CreatedTimestamp ResponseMetadata'),
    Tags: 'templates have no tags here: give "tags" in the send',
  },
  listmonk: {
    ...all('kept', 'name subject body'),
    ...all('record', 'id uuid type created_at updated_at is_default'),
    body_source: 'the blocks of the visual editor: the HTML made of them is taken',
  },
};

function all(treatment: Treatment, names: string): Record<string, Treatment> {
  return Object.fromEntries(names.split(' ').map((name) => [name, treatment]));
}

/** A field that the draft lacks. */
export interface LeftField {
  field: string;
  advice: string;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === '' ||
  (Array.isArray(value) && value.length === 0) ||
  (isObject(value) && Object.keys(value).length === 0);
const mostLeft = 50;

/** Returns the treatment of a field; undefined for an unknown field. */
export function treatmentOf(service: ForeignService, path: string): string | undefined {
  return Object.hasOwn(fields[service], path) ? fields[service][path] : undefined;
}

/** Returns up to 50 fields of an entry that the draft lacks, without empty fields. */
export function leftFields(service: ForeignService, entry: object): LeftField[] {
  const left: LeftField[] = [];
  const look = (value: unknown, path: string, depth: number): void => {
    if (isEmpty(value) || left.length >= mostLeft) return;
    const known = treatmentOf(service, path);
    if (known === 'kept' || known === 'record') return;
    if (known === undefined && isObject(value) && depth < 3) {
      for (const [name, one] of Object.entries(value)) {
        look(one, path === '' ? name : `${path}.${name}`, depth + 1);
      }
      return;
    }
    const advice = known ?? 'an unknown field: look whether the mail needs it';
    left.push({ field: path.slice(0, 100), advice });
  };
  look(entry, '', 0);
  return left;
}
