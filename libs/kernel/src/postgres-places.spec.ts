import { postgresPlaces } from './postgres-places';

describe('postgresPlaces', () => {
  it('reads several servers, and the URL of the first of them', () => {
    expect(postgresPlaces('postgres://lethe:secret@db1:6432,[::1]/lethe?sslmode=require')).toEqual({
      url: 'postgres://lethe:secret@db1:6432/lethe?sslmode=require',
      places: [
        { host: 'db1', port: 6432 },
        { host: '::1', port: 5432 },
      ],
    });
  });

  it.each(['pa@ss,word', 'pa@ss', '@,@', 'a@b:5432,c@d'])(
    'takes no part of the password %s for a server',
    (password) => {
      const text = `postgres://lethe:${password}@db1:5432,db2:5433/lethe`;
      const { url, places } = postgresPlaces(text);
      expect(places).toEqual([
        { host: 'db1', port: 5432 },
        { host: 'db2', port: 5433 },
      ]);
      expect(url).toBe(`postgres://lethe:${password}@db1:5432/lethe`);
      expect(new URL(url).host).toBe('db1:5432');
    },
  );

  it('knows no places of another text', () => {
    expect(postgresPlaces('redis://db1:6379').places).toEqual([]);
  });
});
