// Icons of 16 px as lines: each is the path of its shape.
import { html, type Part } from '../html.ts';

const shapes = {
  overview: 'M2.5 7 8 2.5 13.5 7v6.5h-4V10h-3v3.5h-4z',
  inbox: 'M2 9.5 4 3h8l2 6.5V13H2zM2 9.5h3.5l1 2h3l1-2H14',
  approve: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM5.5 8.2l1.8 1.8 3.4-3.8',
  send: 'M14 2 7 9M14 2 9.5 14 7 9 2 6.5z',
  template: 'M4 2h5l3 3v9H4zM9 2v3h3M6 8h4M6 10.5h4',
  list: 'M2.5 4h11M2.5 8h11M2.5 12h7',
  people:
    'M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.5 13.5c.3-2.6 2-4 4.5-4s4.2 1.4 4.5 4M11 7.3a2.2 2.2 0 0 0 .3-4.2M12 9.7c1.6.4 2.4 1.8 2.6 3.8',
  group: 'M2 7V2.5h4.5L14 10l-4.5 4zM5 5h.01',
  blocked: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM3.8 3.8l8.4 8.4',
  domain:
    'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM2 8h12M8 2c2 2 2.6 4 2.6 6S10 12 8 14c-2-2-2.6-4-2.6-6S6 4 8 2',
  report: 'M2.5 2.5v11h11M5 11V8M8 11V5M11 11V7',
  menu: 'M2.5 4h11M2.5 8h11M2.5 12h11',
  key: 'M9.8 9.4a3.6 3.6 0 1 0-3.2-3.2L2 10.8V14h3v-2h2zM11 5h.01',
  webhook: 'M5.5 8a3 3 0 1 0-2.3 4.5h5M8 5.5a3 3 0 1 1 4 3.9M7 4l2.5 4.4',
  extension: 'M6 2v4M10 2v4M4 6h8v2a4 4 0 0 1-8 0zM8 12v2',
  settings: 'M2 5h7M13 5h1M2 11h1M7 11h7M11 3v4M5 9v4',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.7 10.7 14 14',
  filter: 'M2.5 4h11M4.5 8h7M6.5 12h3',
  warning: 'M8 2 1.5 13.5h13zM8 6.5V9.5M8 11.6h.01',
  copy: 'M6 5.5h7.5v8H6zM10 5.5v-3H2.5v8H6',
  done: 'M3 8.5l3.5 3.5L13 4.5',
  clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.5V8l2.5 1.5',
  reply: 'M6.5 3.5 2.5 7.5l4 4M2.5 7.5H9c3 0 4.5 1.8 4.5 5',
  forward: 'M9.5 3.5l4 4-4 4M13.5 7.5H7c-3 0-4.5 1.8-4.5 5',
  archive: 'M2 3h12v3H2zM3 6v7.5h10V6M6.5 8.5h3',
  trash: 'M3 4.5h10M6 4.5V2.5h4v2M4.5 4.5l.6 9h5.8l.6-9',
  star: 'M8 2.2 9.8 6l4.2.5-3.1 2.8.8 4.2L8 11.4l-3.7 2.1.8-4.2L2 6.5 6.2 6z',
  label: 'M2 7V2.5h4.5L14 10l-4.5 4zM5 5h.01',
  file: 'M13 7.5 7.7 12.8a3 3 0 0 1-4.3-4.2L9 3a2 2 0 0 1 2.9 2.8L6.4 11.3a1 1 0 0 1-1.4-1.4L9.5 5.5',
  person: 'M8 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2.5 14c.4-3 2.5-4.5 5.5-4.5s5.1 1.5 5.5 4.5',
  edit: 'M3 13l.7-3L11 2.7 13.3 5 6 12.3z',
  add: 'M8 3v10M3 8h10',
  next: 'M6 3.5 10.5 8 6 12.5',
  close: 'M4 4l8 8M12 4l-8 8',
  note: 'M3 3h10v7l-3 3H3zM10 13v-3h3',
  download: 'M8 2.5v7.5M4.8 7 8 10.2 11.2 7M3 13.5h10',
} as const;

export type IconName = keyof typeof shapes;

/** Draws an icon. `tone` is a class of colour, such as `warn`. */
export function icon(name: IconName, tone?: string): Part {
  const classes = tone === undefined ? 'i' : `i ${tone}`;
  return html`<svg class=${classes} viewBox="0 0 16 16" aria-hidden="true"><path d=${shapes[name]} /></svg>`;
}
