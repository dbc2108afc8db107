export {
  type ConsentedDataHolder,
  ConsentedDataHolders,
  type ErasureTime,
  type DecidedConsent,
  HoldsConsentedData,
} from './consented-data';
export { guildOf, SCOPES } from './guild-scope';
export {
  type ConsentedTable,
  type ErasedCategory,
  HoldsSubjectData,
  type SubjectDataHolder,
  SubjectDataHolders,
  type SubjectExport,
} from './subject-data';
export { lockSubject, lockSubjects, tryLockSubjects } from './subject-lock';
export {
  amongSubjects,
  ERASED_ID,
  ERASED_IDS,
  givenSubjects,
  subjectValues,
  type NamedSubject,
  type Subject,
  SUBJECT_KEY,
  SUBJECT_WHERE,
  subjectAt,
  type SubjectIds,
  subjectName,
  subjectOf,
} from './subject';
export { SubjectsModule } from './subjects.module';
