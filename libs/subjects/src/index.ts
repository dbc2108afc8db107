export {
  type ConsentedDataHolder,
  ConsentedDataHolders,
  type ErasureTime,
  HoldsConsentedData,
} from './consented-data';
export { guildOf, SCOPES } from './guild-scope';
export {
  HoldsSubjectData,
  type Subject,
  type SubjectDataHolder,
  SubjectDataHolders,
  type SubjectExport,
} from './subject-data';
export { lockSubject } from './subject-lock';
export { SubjectsModule } from './subjects.module';
