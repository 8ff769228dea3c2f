// Names of columns in six languages: a file keeps the header of the person who wrote it.
import { describe, expect, it } from 'vitest';
import { importContacts } from '../../../src/people/imports/contacts.ts';
import { eachApp } from '../../support/each-app.ts';
import { blocked, pieces, today } from './support.ts';

const test = eachApp();

const look = async (header: string, row: string) => {
  const source = pieces(Buffer.from(`${header}\n${row}\n`));
  return importContacts(test.app, test.caller, source, { dryRun: true });
};

/** Use of each column, by language. */
const headers: Record<string, Record<string, string>> = {
  English: {
    'E-Mail': 'email',
    'First name': 'firstName',
    Surname: 'lastName',
    Company: 'company',
    'Job title': 'jobTitle',
    Country: 'country',
    City: 'city',
    Language: 'language',
    Tags: 'tags',
    'External ID': 'externalId',
    Unsubscribed: 'unsubscribed',
  },
  German: {
    'E-Mail-Adresse': 'email',
    Vorname: 'firstName',
    Nachname: 'lastName',
    Firma: 'company',
    Berufsbezeichnung: 'jobTitle',
    Land: 'country',
    Bundesland: 'state',
    Ort: 'city',
    Sprache: 'language',
    Schlagwörter: 'tags',
    'Externe ID': 'externalId',
    Abgemeldet: 'unsubscribed',
  },
  French: {
    Courriel: 'email',
    Prénom: 'firstName',
    'Nom de famille': 'lastName',
    Société: 'company',
    Fonction: 'jobTitle',
    Pays: 'country',
    Ville: 'city',
    Langue: 'language',
    Étiquettes: 'tags',
    'Identifiant externe': 'externalId',
    Désinscrit: 'unsubscribed',
  },
  Spanish: {
    'Correo electrónico': 'email',
    Nombre: 'firstName',
    Apellidos: 'lastName',
    Empresa: 'company',
    Cargo: 'jobTitle',
    País: 'country',
    Provincia: 'state',
    Ciudad: 'city',
    Idioma: 'language',
    Etiquetas: 'tags',
    'ID externo': 'externalId',
    'Dado de baja': 'unsubscribed',
  },
  Italian: {
    'Indirizzo e-mail': 'email',
    Nome: 'firstName',
    Cognome: 'lastName',
    Azienda: 'company',
    Qualifica: 'jobTitle',
    Nazione: 'country',
    Città: 'city',
    Lingua: 'language',
    Etichette: 'tags',
    'ID esterno': 'externalId',
    Disiscritto: 'unsubscribed',
  },
  Dutch: {
    'E-mailadres': 'email',
    Voornaam: 'firstName',
    Achternaam: 'lastName',
    Bedrijf: 'company',
    Functie: 'jobTitle',
    Land: 'country',
    Provincie: 'state',
    Woonplaats: 'city',
    Taal: 'language',
    Trefwoorden: 'tags',
    'Externe ID': 'externalId',
    Uitgeschreven: 'unsubscribed',
  },
};

describe.each(Object.entries(headers))('a header in %s', (_language, uses) => {
  const names = Object.keys(uses);

  it('gives each column its use', async () => {
    const row = names.map((name) =>
      uses[name] === 'email' ? 'a@example.com' : uses[name] === 'unsubscribed' ? '0' : 'x',
    );
    const { map } = await look(names.join(';'), row.join(';'));
    expect(map).toEqual(uses);
  });

  it('means the same in capitals, and with accents written apart', async () => {
    const other = names.map((name) => name.toUpperCase().normalize('NFD'));
    const row = names.map((name) => (uses[name] === 'email' ? 'a@example.com' : '')).join(',');
    const { map } = await look(other.join(','), row);
    expect(Object.values(map)).toEqual(Object.values(uses));
  });
});

describe('a name', () => {
  it.each([
    ['Name,E-Mail', { Name: 'name' }],
    ['Vorname,Name,E-Mail', { Vorname: 'firstName', Name: 'lastName' }],
    ['Vorname,Nachname,Name,E-Mail', { Nachname: 'lastName', Name: 'name' }],
    ['Nom,Courriel', { Nom: 'name' }],
    ['NOM,PRENOM,EMAIL', { NOM: 'lastName', PRENOM: 'firstName' }],
    ['Nombre,Correo', { Nombre: 'name' }],
    ['Nome,Email', { Nome: 'name' }],
    ['Naam,E-mail', { Naam: 'name' }],
    ['Voornaam,Naam,E-mail', { Voornaam: 'firstName', Naam: 'lastName' }],
    ['First name,Name,E-Mail', { 'First name': 'firstName', Name: 'name' }],
  ])('in the header %s has its use by the columns beside it', async (header, uses) => {
    const row = header
      .split(',')
      .map((name) => (/mail|cor|cour/i.test(name) ? 'a@b.example' : 'x'));
    expect((await look(header, row.join(','))).map).toMatchObject(uses);
  });
});

it.each([
  ['Abgemeldet', 'ja', 'nein'],
  ['Désinscrit', 'oui', 'non'],
  ['Dado de baja', 'sí', 'no'],
  ['Disiscritto', 'sì', 'no'],
  ['Uitgeschreven', 'ja', 'nee'],
])('the column %s keeps people who left blocked', async (name, yes, no) => {
  const file = `email,${name}\nout@example.com,${yes}\nin@example.com,${no}\n`;
  const source = pieces(Buffer.from(file));
  const report = await importContacts(test.app, test.caller, source, { dryRun: false });
  expect(report).toMatchObject({ created: 2, rejected: 0 });
  expect(await blocked(test)).toEqual([`out@example.com unsubscribe ${today}`]);
});

describe('a file in UTF-16, as Excel writes "Unicode text"', () => {
  const text = 'E-Mail\tVorname\nanna@example.com\tZoë\n';
  const little = Buffer.from(`\ufeff${text}`, 'utf16le');
  it.each([
    ['little endian', little, 7],
    ['little endian, byte by byte', little, 1],
    ['big endian', Buffer.from(little).swap16(), 5],
  ])('is read: %s', async (_name, bytes, size) => {
    const source = pieces(bytes, size);
    const report = await importContacts(test.app, test.caller, source, { dryRun: true });
    expect(report).toMatchObject({ encoding: 'utf-16', created: 1, rejected: 0 });
  });

  it('is refused if it has NUL characters', async () => {
    const source = pieces(Buffer.from('\ufeffemail\n\0', 'utf16le'));
    const asked = importContacts(test.app, test.caller, source, { dryRun: true });
    await expect(asked).rejects.toThrow('NUL');
  });
});
