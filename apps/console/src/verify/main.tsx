import { render } from 'preact';
import { VerifyApp } from './verify-app';
import { chosenScheme, showScheme } from '../scheme';
import '../style.css';
import './verify.css';

showScheme(chosenScheme());

render(<VerifyApp />, document.getElementById('app') as HTMLElement);
