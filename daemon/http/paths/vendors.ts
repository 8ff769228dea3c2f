// Paths of other mail services. A program that changed only the base address still requests them.
// The 404 names the nearest operation of this service.

interface VendorPath {
  vendor: string;
  method: string;
  /** Segments of the path; `*` stands for any segment. */
  path: string;
  /** Our operation, as method and path. */
  ours: string;
}

const send = 'POST /v1/messages';
const batch = 'POST /v1/messages/batch';
const message = 'GET /v1/messages/{id}';
const messages = 'GET /v1/messages';
const domains = 'POST /v1/email/domains';
const templates = 'POST /v1/templates';
const contacts = 'POST /v1/contacts';
const webhooks = 'POST /v1/webhooks';
const block = 'POST /v1/email/blocks';
const blocks = 'GET /v1/email/blocks';
const keys = 'POST /v1/api-keys';

function pathsOf(vendor: string, rows: readonly (readonly [theirs: string, ours: string])[]) {
  return rows.map(([theirs, ours]): VendorPath => {
    const [method = '', path = ''] = theirs.split(' ');
    return { vendor, method, path, ours };
  });
}

/** The paths of each service to send and read mail, and to set up domains, templates and blocks. */
export const vendorPaths: readonly VendorPath[] = [
  ...pathsOf('Resend', [
    ['POST /emails', send],
    ['POST /emails/batch', batch],
    ['GET /emails', messages],
    ['GET /emails/*', message],
    ['POST /emails/*/cancel', 'POST /v1/messages/{id}/cancel'],
    ['POST /domains', domains],
    ['POST /api-keys', keys],
    ['POST /templates', templates],
    ['POST /contacts', contacts],
    ['POST /audiences/*/contacts', contacts],
    ['POST /broadcasts', 'POST /v1/campaigns'],
    ['POST /webhooks', webhooks],
  ]),
  ...pathsOf('SendGrid', [
    ['POST /v3/mail/send', send],
    ['GET /v3/messages', messages],
    ['GET /v3/messages/*', message],
    ['POST /v3/templates', templates],
    ['POST /v3/whitelabel/domains', domains],
    ['PUT /v3/marketing/contacts', contacts],
    ['POST /v3/asm/suppressions/global', block],
    ['GET /v3/suppression/bounces', blocks],
    ['POST /v3/api_keys', keys],
  ]),
  ...pathsOf('Postmark', [
    ['POST /email', send],
    ['POST /email/batch', batch],
    ['POST /email/withTemplate', send],
    ['POST /email/batchWithTemplates', batch],
    ['GET /messages/outbound', messages],
    ['GET /messages/outbound/*/details', message],
    ['GET /bounces', blocks],
  ]),
  ...pathsOf('Mailgun', [
    ['POST /v3/*/messages', send],
    ['POST /v3/*/messages.mime', send],
    ['GET /v3/*/events', 'GET /v1/events'],
    ['GET /v3/*/bounces', blocks],
    ['POST /v3/*/templates', templates],
    ['POST /v3/domains', domains],
    ['POST /v4/domains', domains],
  ]),
  ...pathsOf('Amazon SES', [
    ['POST /v2/email/outbound-emails', send],
    ['POST /v2/email/outbound-bulk-emails', batch],
    ['POST /v2/email/identities', domains],
    ['POST /v2/email/templates', templates],
    ['PUT /v2/email/suppression/addresses', block],
    ['GET /v2/email/suppression/addresses', blocks],
  ]),
  ...pathsOf('Mailchimp Transactional', [
    ['POST /api/1.0/messages/send', send],
    ['POST /api/1.0/messages/send-template', send],
    ['POST /api/1.0/messages/send-raw', send],
    ['POST /api/1.0/messages/info', message],
    ['POST /api/1.0/messages/search', messages],
    ['POST /api/1.0/templates/add', templates],
    ['POST /api/1.0/rejects/add', block],
    ['POST /api/1.0/webhooks/add', webhooks],
  ]),
  ...pathsOf('SparkPost', [
    ['POST /api/v1/transmissions', send],
    ['POST /api/v1/templates', templates],
    ['POST /api/v1/sending-domains', domains],
    ['GET /api/v1/suppression-list', blocks],
    ['POST /api/v1/webhooks', webhooks],
    ['GET /api/v1/events/message', 'GET /v1/events'],
  ]),
];

const byMethod = Map.groupBy(vendorPaths, ({ method }) => method);

/** Returns the hint for a path of another service; undefined for other paths. */
export function vendorHint(method: string, path: string): string | undefined {
  // Mailchimp appends the format of the answer to the path, as in `.json`.
  const plain = path.endsWith('.json') ? path.slice(0, -'.json'.length) : path;
  const given = (plain.endsWith('/') ? plain.slice(0, -1) : plain).split('/');
  const found = byMethod.get(method)?.find((one) => matches(one.path.split('/'), given));
  return found && `This is a path of ${found.vendor}; here it is ${found.ours}`;
}

function matches(pattern: readonly string[], given: readonly string[]): boolean {
  return (
    pattern.length === given.length &&
    pattern.every((segment, at) => segment === given[at] || (segment === '*' && given[at] !== ''))
  );
}
