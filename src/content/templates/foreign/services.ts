// The exports of templates, as the documentation of each service shows them.
//
//   service   | answer of                                   | documentation
//   ----------+---------------------------------------------+--------------------------------------------
//   sendgrid  | GET /v3/templates/{id}                      | docs.sendgrid.com, Transactional Templates
//   postmark  | GET /templates/{idOrAlias}                  | postmarkapp.com/developer, Templates API
//   mailgun   | GET /v3/{domain}/templates/{name}?active=yes| documentation.mailgun.com, Templates
//   ses       | aws sesv2 get-email-template                | docs.aws.amazon.com, GetEmailTemplate
//   resend    | GET /templates/{id}                         | resend.com/docs, Templates
//   listmonk  | GET /api/templates                          | listmonk.app/docs, Templates
//
// A file has a single answer, a list of answers, or a list below `data`, `templates`, `Templates`,
// `result` or `items`.
import { ValidationError } from '../../../platform/errors.ts';
import { type ForeignService, type LeftField, leftFields } from './fields.ts';

/** A template in the export of a foreign service. */
export interface ForeignTemplate {
  name: string;
  /** Name by which calls of the service name the template; becomes the slug. Null if absent. */
  alias: string | null;
  subject: string | null;
  html: string | null;
  text: string | null;
  /** Default values of variables that a send omits. */
  fallbacks: Readonly<Record<string, string | number>>;
  /** Fields of the export that the draft lacks. */
  left: LeftField[];
}

type Fields = Record<string, unknown>;

const mostTemplates = 1_000;
const lists = ['data', 'templates', 'Templates', 'result', 'items'];

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Returns the active version of a template of SendGrid, or the first version. */
function versionOf({ versions }: Fields): Fields {
  const all = Array.isArray(versions) ? versions.filter(isFields) : [];
  return all.find(({ active }) => active === 1 || active === true) ?? all[0] ?? {};
}

/** Returns the fallbacks of Resend's variables, by the name of the variable. */
function fallbacksIn(variables: unknown): ForeignTemplate['fallbacks'] {
  const all = Array.isArray(variables) ? variables.filter(isFields) : [];
  return Object.fromEntries(
    all.flatMap(({ key, fallback_value: value }) =>
      typeof key === 'string' && (typeof value === 'string' || typeof value === 'number')
        ? [[key, value] as const]
        : [],
    ),
  );
}

/** Returns an entry with only the version that is imported, and the number of versions left out. */
function withVersion(service: ForeignService, one: Fields): { entry: Fields; others: number } {
  if (service === 'mailgun' && isFields(one.template)) return { entry: one.template, others: 0 };
  if (service !== 'sendgrid') return { entry: one, others: 0 };
  const others = Array.isArray(one.versions) ? Math.max(0, one.versions.length - 1) : 0;
  return { entry: { ...one, versions: versionOf(one) }, others };
}

/** Returns the fields of an entry that the draft lacks. */
function leftOf(service: ForeignService, one: Fields): LeftField[] {
  const { entry, others } = withVersion(service, one);
  const left = leftFields(service, entry);
  if (others > 0) {
    const advice = `the active version is taken; ${others} more stay with the service`;
    left.push({ field: 'versions', advice });
  }
  if (service === 'sendgrid' && one.generation === 'legacy') {
    const advice = 'a legacy template: tags such as -name- stay as they are, write {{ name }}';
    left.push({ field: 'generation', advice });
  }
  return left;
}

const readers: Readonly<Record<ForeignService, (one: Fields) => Partial<ForeignTemplate>>> = {
  sendgrid(one) {
    const { subject, html_content, plain_content } = versionOf(one);
    return {
      name: textOf(one.name) ?? '',
      subject: textOf(subject),
      html: textOf(html_content),
      text: textOf(plain_content),
    };
  },
  postmark: ({ Alias, Name, Subject, HtmlBody, TextBody }) => ({
    name: textOf(Name) ?? textOf(Alias) ?? '',
    alias: textOf(Alias),
    subject: textOf(Subject),
    html: textOf(HtmlBody),
    text: textOf(TextBody),
  }),
  mailgun(one) {
    const template = isFields(one.template) ? one.template : one;
    const version = isFields(template.version) ? template.version : {};
    const headers = isFields(version.headers) ? version.headers : {};
    return {
      name: textOf(template.name) ?? '',
      subject: textOf(headers.Subject),
      html: textOf(version.template),
      text: null,
    };
  },
  ses({ TemplateName, TemplateContent, Template }) {
    const content = isFields(TemplateContent)
      ? TemplateContent
      : isFields(Template)
        ? Template
        : {};
    const name = textOf(TemplateName) ?? textOf(content.TemplateName) ?? '';
    const subject = textOf(content.Subject) ?? textOf(content.SubjectPart);
    const html = textOf(content.Html) ?? textOf(content.HtmlPart);
    return { name, subject, html, text: textOf(content.Text) ?? textOf(content.TextPart) };
  },
  resend: ({ alias, name, subject, html, text, variables }) => ({
    name: textOf(name) ?? textOf(alias) ?? '',
    alias: textOf(alias),
    fallbacks: fallbacksIn(variables),
    subject: textOf(subject),
    html: textOf(html),
    text: textOf(text),
  }),
  listmonk: ({ name, subject, body }) => ({
    name: textOf(name) ?? '',
    subject: textOf(subject),
    html: textOf(body),
    text: null,
  }),
};

/**
 * Reads the templates of an export.
 * @throws ValidationError for a text that is not an export of `service`, or above 1,000 templates
 */
export function readForeign(service: ForeignService, text: string): ForeignTemplate[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw ValidationError.of('file', `is no JSON: ${(error as Error).message}`);
  }
  const all = itemsIn(parsed);
  if (all.length > mostTemplates) {
    throw ValidationError.of(
      'file',
      `has ${all.length} templates: at most ${mostTemplates} are imported at once`,
    );
  }
  return all.map((one, index) => {
    const found = isFields(one) ? readers[service](one) : {};
    const { name = '', alias = null, subject = null, html = null, text: plain = null } = found;
    const { fallbacks = {} } = found;
    if (name === '' || (html === null && plain === null)) {
      throw ValidationError.of(
        'file',
        `entry ${index + 1} is no template of ${service}: it lacks a name or a content`,
      );
    }
    const left = isFields(one) ? leftOf(service, one) : [];
    return { name, subject, html, text: plain, alias, fallbacks, left };
  });
}

function itemsIn(parsed: unknown): unknown[] {
  if (Array.isArray(parsed)) return parsed;
  if (!isFields(parsed)) return [parsed];
  const list = lists.map((name) => parsed[name]).find(Array.isArray);
  if (list) return list;
  return isFields(parsed.data) ? [parsed.data] : [parsed];
}
