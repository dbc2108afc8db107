import { purposeIn } from './purposes';

describe('the purpose for a reader', () => {
  it.each([' ', '\u200b', ''])(
    'passes over a description of %j, which the contract allows',
    (description) => {
      expect(purposeIn('en', { description, description_de: 'Zweck' })).toBe('Zweck');
      expect(purposeIn('en', { description })).toBeNull();
    },
  );

  it('is in the language of the reader, else in English, else without one, else in German', () => {
    const words = { description: 'Without', description_de: 'Zweck', description_en: 'Purpose' };
    expect(purposeIn('de', words)).toBe('Zweck');
    expect(purposeIn('fr', words)).toBe('Purpose');
    expect(purposeIn('fr', { ...words, description_en: '' })).toBe('Without');
  });
});
