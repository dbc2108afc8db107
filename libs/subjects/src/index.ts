export {
  type ConsentedDataHolder,
  ConsentedDataHolders,
  type ErasureTime,
  HoldsConsentedData,
} from './consented-data';
export { guildOf, SCOPES } from './guild-scope';
export {
  type ConsentedTable,
  HoldsSubjectData,
  type SubjectDataHolder,
  SubjectDataHolders,
  type SubjectExport,
} from './subject-data';
export { lockSubject } from './subject-lock';
export {
  ERASED_ID,
  ERASED_IDS,
  type NamedSubject,
  type Subject,
  SUBJECT_WHERE,
  subjectAt,
  type SubjectIds,
  subjectName,
  subjectOf,
} from './subject';
export { SubjectsModule } from './subjects.module';
