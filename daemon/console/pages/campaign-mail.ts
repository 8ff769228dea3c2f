// The mail of a campaign as a run started now would send it. Each page on which a person decides
// about it shows the mail.
import { campaignRoutes } from '../../../src/campaigns/setup/routes.ts';
import { refusalOf, withQuery } from '../api.ts';
import { html, type Part, together } from '../html.ts';
import { drawMail, framedHtml } from '../mail-picture.ts';
import type { Asked, Page } from '../page.ts';
import { field } from '../parts/form.ts';

type Mail = Awaited<ReturnType<typeof mailOf>>;

/**
 * Requests the mail, with the values of a contact if the query names a contact. @throws
 * ServiceError
 */
function mailOf({ ask, params, query }: Asked) {
  const body = { contactId: query['contact'] || undefined };
  return ask(campaignRoutes.render, { params, body });
}

/** Draws a mail that `mailOf` returned. */
export function drawCampaignMail({ params, query }: Asked, mail: Mail): Part {
  const warnings = mail.warnings.map(({ message }) => html`<li>${message}</li>`);
  return together(
    html`<h2>Its mail</h2>`,
    drawMail(
      { ...mail, to: ['each recipient alone'], cc: [], bcc: [] },
      {
        htmlPath: withQuery(`/console/campaigns/${params['id']}/html`, {
          contact: query['contact'] ?? '',
        }),
      },
    ),
    mail.preheader !== null && html`<p class="note">Preheader: ${mail.preheader}</p>`,
    warnings.length > 0 && html`<ul aria-label="Advice on the mail">${warnings}</ul>`,
  );
}

/** Draws the mail of the page's campaign, or the reason why it cannot be drawn. */
export async function campaignMail(asked: Asked): Promise<Part> {
  const drawn = await mailOf(asked).then(
    (mail) => drawCampaignMail(asked, mail),
    (error: unknown) =>
      html`<p class="note">A run of now has no mail: ${refusalOf(error).message}</p>`,
  );
  return together(
    drawn,
    asked.may('contacts:read') &&
      html`<form method="get" class="filters">${field({ name: 'contact', label: 'With the values of the contact (id)', value: asked.query['contact'] })}<button>Show</button></form>`,
  );
}

export const mailPage: Page = {
  path: '/campaigns/:id/html',
  needs: 'campaigns:read',
  show: async (asked) => framedHtml(await mailOf(asked)),
};
