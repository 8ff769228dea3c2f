// The footer of a brand: company, postal address, social links and the link to unsubscribe. Pure.
import type { BrandValues } from './compiled.ts';
import { escapeHtml, unsafeScheme } from './liquid/escape.ts';
import { endOfBody } from './liquid/html-place.ts';

interface FooterLine {
  text: string;
  links: { label: string; url: string }[];
}

/**
 * Returns the lines of a postal address, from the street to the country; empty without an address.
 */
export function addressLines({ address }: BrandValues['footer']): string[] {
  if (!address) return [];
  const { street1, street2, city, region, postalCode, country } = address;
  const town = [postalCode, city].filter(Boolean).join(' ');
  return [street1, street2, town, region, country].flatMap((line) => line || []);
}

/** Replaces line breaks in a value, which would break the line of the footer. */
const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim();

function linesOf(brand: BrandValues, unsubscribeUrl: string | null): FooterLine[] {
  const { companyName, socialLinks } = brand.footer;
  const leave = unsubscribeUrl === null ? [] : [{ label: 'Unsubscribe', url: unsubscribeUrl }];
  const lines: FooterLine[] = [
    { text: oneLine(companyName ?? brand.name), links: [] },
    { text: oneLine(addressLines(brand.footer).join(', ')), links: [] },
    { text: '', links: socialLinks.filter(({ url }) => unsafeScheme(url) === null) },
    { text: '', links: leave },
  ];
  return lines.filter(({ text, links }) => text !== '' || links.length > 0);
}

const style =
  'margin:24px auto 0;padding:16px;max-width:600px;text-align:center;' +
  'font-family:Arial,sans-serif;font-size:12px;line-height:18px;color:#6b7280;';

/** Returns the footer as HTML, with escaped values. */
export function footerHtml(brand: BrandValues, unsubscribeUrl: string | null): string {
  const lines = linesOf(brand, unsubscribeUrl).map(({ text, links }) => {
    const anchors = links.map(
      ({ label, url }) =>
        `<a href="${escapeHtml(url)}" style="color:#6b7280;">${escapeHtml(oneLine(label))}</a>`,
    );
    return escapeHtml(text) + anchors.join(' &#183; ');
  });
  return `<div style="${style}">${lines.join('<br>')}</div>`;
}

export function footerText(brand: BrandValues, unsubscribeUrl: string | null): string {
  const lines = linesOf(brand, unsubscribeUrl).flatMap(({ text, links }) => [
    ...(text === '' ? [] : [text]),
    ...links.map(({ label, url }) => `${oneLine(label)}: ${oneLine(url)}`),
  ]);
  return lines.join('\n');
}

/** Most characters of HTML that are parsed as a browser does; twice as many take 50 ms at worst. */
const mostReadCharacters = 256 * 1024;
const mostEndCharacters = 1000;

function endOf(html: string): number {
  if (html.length <= mostReadCharacters) return endOfBody(html);
  const end = /<\/body\s*>\s*(?:<\/html\s*>\s*)?$/i.exec(html.slice(-mostEndCharacters));
  return end ? html.length - end[0].length : html.length;
}

/** Adds the footer to the end of the body of HTML. */
export function withHtmlFooter(html: string, footer: string): string {
  const end = endOf(html);
  return html.slice(0, end) + footer + html.slice(end);
}

/** Adds the footer to the end of a text. */
export function withTextFooter(text: string, footer: string): string {
  return footer === '' ? text : `${text.trimEnd()}\n\n${footer}\n`;
}

/** Adds the footer of a brand to content that has no template. */
export function withFooter<C extends { html: string | null; text: string | null }>(
  content: C,
  brand: BrandValues,
  unsubscribeUrl: string | null,
): C {
  const { html, text } = content;
  return {
    ...content,
    html: html === null ? null : withHtmlFooter(html, footerHtml(brand, unsubscribeUrl)),
    text: text === null ? null : withTextFooter(text, footerText(brand, unsubscribeUrl)),
  };
}
