variable "project" { default = "chat" }
variable "environment" { default = "prod" }
variable "region" { default = "eu-west-1" }
variable "account_id" { type = string }
variable "vpc_id" { type = string }
variable "private_subnet_ids" { type = list(string) }
variable "client_cidrs" { type = list(string) }
variable "instance_profile_arn" { type = string }
variable "image_repository" { type = string }
variable "image_digest" { type = string }
variable "api_key_secret_arn" { type = string }
variable "certificate_arn" { type = string }
variable "tags" {
  type    = map(string)
  default = {}
}
