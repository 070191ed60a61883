"""What any request and answer has to do with, whatever it asks for."""
